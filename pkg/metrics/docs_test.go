package metrics

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// exported returns the metrics on a page as "type labels", by name.
func exported(page string) map[string]string {
	types, labels := map[string]string{}, map[string]map[string]bool{}
	for line := range strings.Lines(page) {
		if rest, ok := strings.CutPrefix(line, "# TYPE fairway_"); ok {
			name, kind, _ := strings.Cut(strings.TrimSpace(rest), " ")
			types["fairway_"+name], labels["fairway_"+name] = kind, map[string]bool{}
		}
		m := regexp.MustCompile(`^(fairway_\w+)\{(.*)\} `).FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name := m[1]
		if _, own := types[name]; !own {
			name = regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
		}
		for _, l := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(m[2], -1) {
			if l[1] != "le" {
				labels[name][l[1]] = true
			}
		}
	}
	for name := range types {
		types[name] += " " + strings.Join(slices.Sorted(maps.Keys(labels[name])), ",")
	}
	return types
}

func TestTheTableOfMetricsIsWhatIsExported(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(fairway_\\w+)` \\| (\\w+) \\| (.*?) ?\\| (.*?) ?\\| (.+) \\|$").FindAllStringSubmatch(string(text), -1) {
		ls := strings.Split(strings.ReplaceAll(row[3], "`", ""), ", ")
		slices.Sort(ls)
		documented[row[1]] = row[2] + " " + strings.Join(ls, ",")
	}

	l := newLedger()
	declare(l, "root.a")
	declare(l, "root.b", func(q *queue.Spec) { q.Guaranteed, q.Max = amounts(2, 2), amounts(1, 1) })
	declare(l, "root.c", func(q *queue.Spec) { q.Policy = queue.StateAware })
	declare(l, "root.d", func(q *queue.Spec) { q.State = queue.StateStopped })
	declare(l, "root.e")
	declare(l, "root.e.x", func(q *queue.Spec) { q.Capacity, q.DefaultPriority = queue.AtMost(queue.Whole), 1 })
	pod(l, "p", "root.a", "app")
	r := New(l, Options{MaxQueues: 10})
	lead(r)
	release(t, l, r, 101*sec)
	r.Followed(Reservations{Now: map[queue.Path]resource.List{"root.a": amounts(1, 1)}})
	page, _ := scrape(t, r)
	got := exported(page)
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if documented[name] != got[name] {
			t.Errorf("%s is exported as %q, and docs/metrics.md says %q", name, got[name], documented[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(documented)) {
		if got[name] == "" {
			t.Errorf("%s is in docs/metrics.md and not exported", name)
		}
	}
}
