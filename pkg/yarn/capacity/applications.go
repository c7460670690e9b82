package capacity

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/yarn/plan"
	"github.com/fairway-scheduler/fairway/pkg/yarn/value"
)

// unstated gives a queue the default of a property, where that is stated for all queues or is not the default here.
func (t *translation) unstated(d *declared, property string) {
	all := t.system[prefix+property]
	switch {
	case property == "max-parallel-apps":
		if all != nil {
			t.spread(d, all, "maxRunningApplications", (*translation).count)
		}
	case d.leaf() && property == "maximum-applications":
		if all = t.system[prefix+"global-queue-max-application"]; all != nil {
			t.spread(d, all, "maxApplications", (*translation).count)
		} else if d.parent != nil && d.parent.mode.byWeight() {
			t.partOfApplications(d)
		}
	case d.leaf() && property == "ordering-policy":
		d.object.SetDefault(t.byDefault(property, "fifo"), "policy", "FIFO")
	case d.leaf() && all != nil:
		t.ofAll(d, property, all)
	case d.leaf() && d.parent != nil && d.parent.mode.byWeight():
		t.byWeight(d, property)
	}
}

// ofAll gives a leaf what is stated for all.
func (t *translation) ofAll(d *declared, property string, all *setting) {
	switch property {
	case "maximum-am-resource-percent":
		if text, ok := t.part(all); ok {
			d.object.SetDefault(all.note, "maxDriverShare", value.Number(text))
		}
	case "minimum-user-limit-percent":
		t.spread(d, all, "users.minSharePercent", (*translation).userPercent)
	case "user-limit-factor":
		if text, ok := t.userFactor(d, all); ok {
			d.object.SetDefault(all.note, "users.shareFactor", value.Number(text))
		}
	}
}

// byWeight gives a leaf that shares by weight the defaults of YARN, which are those of capacities here.
func (t *translation) byWeight(d *declared, property string) {
	switch property {
	case "maximum-am-resource-percent":
		d.object.SetDefault(t.byDefault(property, "0.1"), "maxDriverShare", "0.1")
	case "minimum-user-limit-percent":
		d.object.SetDefault(t.byDefault(property, "100"), "users.minSharePercent", int64(100))
	case "user-limit-factor":
		d.object.SetDefault(t.byDefault(property, "1.0"), "users.shareFactor", int64(1))
	}
}

// spread states a number that is stated for all queues.
func (t *translation) spread(d *declared, s *setting, field string, read func(*translation, *setting) (int64, bool)) {
	if n, ok := read(t, s); ok {
		d.object.SetDefault(s.note, field, n)
	}
}

func (t *translation) maxParallelApps(d *declared, s *setting) {
	if n, ok := t.count(s); ok {
		d.object.Set(s.note, "maxRunningApplications", n)
	}
}

func (t *translation) maximumApplications(d *declared, s *setting) {
	if n, ok := t.count(s); ok {
		d.object.Set(s.note, "maxApplications", n)
	}
}

// partOfApplications states the part of the system's number that a leaf has in YARN. Fairway gives one by itself to a queue with a capacity alone.
func (t *translation) partOfApplications(d *declared) {
	n, byMemory := t.systemLimit(), false
	part := new(big.Rat).SetInt64(n)
	for q := d; q.parent != nil; q = q.parent {
		if q.ofParent == nil {
			return // an error says why
		}
		part.Mul(part, q.ofParent)
		byMemory = byMemory || q.parent.mode == amounts
	}
	whole := new(big.Int).Quo(part.Num(), part.Denom()).Int64()
	note := t.plan.Note(plan.Origin{File: t.file, Queue: d.yarn, Property: "maximum-applications", Value: strconv.FormatInt(whole, 10)}).
		Remark("not stated, and the default of YARN: a part of %d", n)
	if byMemory {
		note.Approximate("the part is that of the memory that the siblings are guaranteed")
	}
	if whole == 0 && n > 0 {
		note.Approximate("a queue takes in one at least")
		whole = 1
	}
	d.object.Set(note, "maxApplications", whole)
}

// systemLimit is how many applications the system takes in.
func (t *translation) systemLimit() int64 {
	if s := t.system[prefix+"maximum-applications"]; s != nil {
		n, _ := value.Int(s.Value)
		return max(n, 0)
	}
	return 10_000
}

func (t *translation) maximumAMResourcePercent(d *declared, s *setting) {
	if text, ok := t.part(s); ok {
		d.object.Set(s.note, "maxDriverShare", value.Number(text))
	}
}

func (t *translation) minimumUserLimitPercent(d *declared, s *setting) {
	if percent, ok := t.userPercent(s); ok {
		d.object.Set(s.note, "users.minSharePercent", percent)
	}
}

// userPercent reads minimum-user-limit-percent, which YARN does not check.
func (t *translation) userPercent(s *setting) (int64, bool) {
	n, err := value.Int(s.Value)
	switch {
	case err != nil:
		t.fail(s.Property, "%w", err)
		return 0, false
	case n > 100:
		s.note.Remark("more than 100 has the effect of 100: none")
		n = 100
	case n < 1:
		s.note.Approximate("the least is 1")
		n = 1
	}
	return n, true
}

func (t *translation) userLimitFactor(d *declared, s *setting) {
	if text, ok := t.userFactor(d, s); ok {
		d.object.Set(s.note, "users.shareFactor", value.Number(text))
	}
}

// userFactor reads user-limit-factor. -1 is no limit: a factor with which one user may have all of the cluster.
func (t *translation) userFactor(d *declared, s *setting) (string, bool) {
	r, ok := t.number(s)
	switch {
	case !ok:
		return "", false
	case r.Cmp(big.NewRat(-1, 1)) == 0:
		s.note.Approximate("-1 is no limit: a factor with which one user may have the whole cluster")
		return wholeCluster(d), true
	case r.Sign() <= 0:
		s.note.Lose("with a factor of 0 or less no user gets anything in YARN")
		return "", false
	}
	return s.note.Rounded(r), true
}

// wholeCluster is the least whole factor by which the queue's capacity is the cluster.
func wholeCluster(d *declared) string {
	if d.part == nil || d.part.Sign() == 0 {
		return "1000"
	}
	inverse := new(big.Rat).Inv(d.part)
	n := new(big.Int).Quo(inverse.Num(), inverse.Denom())
	if !inverse.IsInt() {
		n.Add(n, big.NewInt(1))
	}
	return n.String()
}

// userWeight translates user-settings.USER.weight.
func (t *translation) userWeight(d *declared, s *setting) {
	r, ok := t.number(s)
	if !ok {
		return
	}
	percent := int64(100)
	if own := d.stated["minimum-user-limit-percent"]; own != nil {
		if n, err := value.Int(own.Value); err == nil && n > 0 {
			percent = n
		}
	}
	if most := big.NewRat(100, percent); r.Sign() < 0 || r.Cmp(most) > 0 {
		shown, _ := value.Rounded(most, 2)
		t.fail(s.Property, "%s is not between 0 and %s, which is 100 over minimum-user-limit-percent", strings.TrimSpace(s.Value), shown)
		return
	}
	text := s.note.Rounded(r)
	user := strings.TrimSuffix(strings.TrimPrefix(s.note.Property, "user-settings."), ".weight")
	d.object.SetKey(s.note, "users.weights", user, value.Number(text))
}

func (t *translation) defaultPriority(d *declared, s *setting) {
	if n, ok := t.priority(s); ok {
		d.object.Set(s.note, "defaultPriority", n)
	}
}

// priority reads a priority, cut to the largest.
func (t *translation) priority(s *setting) (int64, bool) {
	n, err := value.Int(s.Value)
	if err != nil {
		t.fail(s.Property, "%w", err)
		return 0, false
	}
	if most := t.mostPriority(); n > most {
		s.note.Approximate("it is cut to %s, as in YARN", maxPriority)
		n = most
	}
	return n, true
}

// mostPriority is the cluster's largest priority, as far as it is known.
func (t *translation) mostPriority() int64 {
	p := t.config.Get(maxPriority)
	if p == nil && !t.hasSite {
		return 1<<31 - 1
	}
	if p == nil {
		return 0
	}
	n, _ := value.Int(p.Value)
	return n
}
