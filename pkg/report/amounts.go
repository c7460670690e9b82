package report

import (
	"strconv"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// maxDevices is how many kinds of devices a short text names. Clusters with more show the full lists
// elsewhere.
const maxDevices = 2

// Amounts prints amounts as short as is still readable, and as the columns of `kubectl get queues` do: "50c
// 200Gi" is 50 cores and 200 GiB of memory, "64c 1.5Ti 8gpu" has 8 devices in addition. Without devices it
// takes at most 11 characters.
//
// It rounds down: a queue never seems to have more than it has. It always names cpu and memory, and devices
// (resources with a domain, such as example.com/gpu) if there are any.
func Amounts(l resource.List) string {
	if l.IsZero() {
		return "0"
	}
	words := []string{shortCPU(l.Get(resource.CPU)) + "c", shortBytes(l.Get(resource.Memory))}
	for i := 0; i < l.Len() && len(words) < 2+maxDevices; i++ {
		e := l.At(i)
		if _, device, ok := strings.Cut(string(e.Name), "/"); ok && e.Value > 0 {
			words = append(words, strconv.FormatInt(e.Value, 10)+device)
		}
	}
	return strings.Join(words, " ")
}

// shortCPU prints milli-cores in at most four characters: "0.5", "12.5", "1200", "25k".
func shortCPU(milli int64) string {
	cores, rest := max(milli, 0)/1000, max(milli, 0)%1000
	switch {
	case cores == 0 && rest > 0 && rest < 100:
		return "0." + padded(rest/10, 2)
	case cores < 100:
		return withTenth(cores, rest/100)
	case cores < 10_000:
		return strconv.FormatInt(cores, 10)
	}
	return shorten(cores, 1000, []string{"", "k", "M", "G", "T"})
}

// shortBytes prints bytes in at most five characters: "200Gi", "1.5Ti", "0".
func shortBytes(bytes int64) string {
	return shorten(max(bytes, 0), 1024, []string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"})
}

// shorten divides by the largest factor that leaves at least 1 and at most three digits; with one digit before
// the point it keeps one after it.
func shorten(v, factor int64, suffixes []string) string {
	whole, part, power := v, int64(0), 0
	for whole >= 1000 && power < len(suffixes)-1 {
		whole, part = whole/factor, whole%factor
		power++
	}
	if power == 0 || whole >= 10 {
		return strconv.FormatInt(whole, 10) + suffixes[power]
	}
	return withTenth(whole, part*10/factor) + suffixes[power]
}

func withTenth(whole, tenth int64) string {
	if tenth == 0 {
		return strconv.FormatInt(whole, 10)
	}
	return strconv.FormatInt(whole, 10) + "." + strconv.FormatInt(tenth, 10)
}

func padded(v int64, width int) string {
	s := strconv.FormatInt(v, 10)
	return strings.Repeat("0", max(width-len(s), 0)) + s
}
