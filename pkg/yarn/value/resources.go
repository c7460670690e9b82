package value

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
)

// Amount is an amount of one resource, as a Queue has it.
type Amount struct {
	Name string // of the resource in Kubernetes
	Text string // such as 20000Mi, 10 or 12.5%
}

// Resources are amounts, and what was changed or lost on the way.
type Resources struct {
	Amounts []Amount
	Percent bool
	Changes []string
	Lost    []string
}

func (r *Resources) changed(format string, args ...any) {
	r.Changes = append(r.Changes, fmt.Sprintf(format, args...))
}

// add adds an amount of a resource of YARN.
func (r *Resources) add(name, text string) {
	as, known := kubernetesNames[name]
	switch {
	case known:
	case strings.Contains(name, "/"):
		as = name
	default:
		r.Lost = append(r.Lost, "resource "+name+": a name in Kubernetes has a domain, such as example.com/"+name)
		return
	}
	if name == "yarn.io/gpu" {
		r.changed("yarn.io/gpu is taken for %s", as)
	}
	r.Amounts = append(r.Amounts, Amount{as, text})
	slices.SortFunc(r.Amounts, func(a, b Amount) int { return strings.Compare(a.Name, b.Name) })
}

var kubernetesNames = map[string]string{
	"memory": "memory", "memory-mb": "memory", "vcores": "cpu", "cpu": "cpu", "yarn.io/gpu": "nvidia.com/gpu",
}

// percent writes a percentage of the cluster, as a Queue may state it.
func (r *Resources) percent(name string, part *big.Rat) {
	if part.Cmp(big.NewRat(100, 1)) > 0 {
		r.changed("more than 100%% is 100%%")
		part = big.NewRat(100, 1)
	}
	text, exact := Rounded(part, 3)
	if !exact {
		r.changed("rounded to %s%%", text)
	}
	r.add(name, text+"%")
}

var (
	percentOfAll   = regexp.MustCompile(`^\s*(-?[0-9]+(?:[.][0-9]*)?)\s*%\s*$`)
	errUnreadable  = errors.New("must be such as \"1024 mb, 4 vcores\", \"50%\", \"50% memory, 20% cpu\" or \"memory-mb=1024, vcores=4\"")
	errBothNeeded  = errors.New("both are needed, memory and cpu")
	errNegative    = errors.New("an amount must not be negative")
	errDuplicate   = errors.New("a resource is named twice")
	errMixed       = errors.New("percentages and amounts cannot be mixed")
	percentOf      = regexp.MustCompile(`(?i)(-?[0-9]+(?:[.][0-9]*)?)\s*%\s*(memory|cpu)\b`)
	amountOf       = regexp.MustCompile(`(?i)(-?[0-9]+)(?:[.][0-9]*)?\s*(mb|vcores)\b`)
	fractionalUnit = regexp.MustCompile(`(?i)[0-9][.][0-9]*[1-9][0-9]*\s*(mb|vcores)\b`)
)

// ParseFair reads amounts as fair-scheduler.xml has them.
func ParseFair(text string) (Resources, error) {
	switch {
	case strings.Contains(text, "="):
		return named(text)
	case percentOfAll.MatchString(text):
		part, err := Decimal(percentOfAll.FindStringSubmatch(text)[1])
		if err != nil || part.Sign() < 0 {
			return Resources{}, errNegative
		}
		r := Resources{Percent: true}
		r.percent("cpu", part)
		r.percent("memory", part)
		r.Changes = slices.Compact(r.Changes)
		return r, nil
	case strings.Contains(text, "%"):
		return pair(text, percentOf, "memory", "cpu")
	}
	return pair(text, amountOf, "mb", "vcores")
}

// pair reads the two amounts of the older forms, in any order.
func pair(text string, pattern *regexp.Regexp, memory, cpu string) (Resources, error) {
	found := map[string]string{}
	for _, match := range pattern.FindAllStringSubmatch(text, -1) {
		unit := strings.ToLower(match[2])
		if _, twice := found[unit]; twice {
			return Resources{}, errDuplicate
		}
		found[unit] = match[1]
	}
	if rest := strings.Trim(pattern.ReplaceAllString(text, ""), ", \t\r\n"); rest != "" {
		return Resources{}, fmt.Errorf("%q cannot be read; the amounts %w", strings.TrimSpace(text), errUnreadable)
	}
	if found[memory] == "" || found[cpu] == "" {
		return Resources{}, fmt.Errorf("%q: %w", strings.TrimSpace(text), errBothNeeded)
	}
	r := Resources{Percent: pattern == percentOf}
	for _, unit := range []string{cpu, memory} {
		n, err := Decimal(found[unit])
		switch {
		case err != nil:
			return Resources{}, err
		case n.Sign() < 0:
			return Resources{}, errNegative
		case r.Percent:
			r.percent(unit, n)
		case unit == memory:
			r.add("memory", n.Num().String()+"Mi")
		default:
			r.add("vcores", n.Num().String())
		}
	}
	if !r.Percent && fractionalUnit.MatchString(text) {
		r.changed("fractions are cut off, as in YARN")
	}
	return r, nil
}

// named reads name=value, all amounts or all percentages.
func named(text string) (Resources, error) {
	var r Resources
	seen := map[string]bool{}
	for i, part := range strings.Split(text, ",") {
		name, value, ok := strings.Cut(part, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || name == "" {
			return Resources{}, fmt.Errorf("%q: %q is not of the form name=value", strings.TrimSpace(text), strings.TrimSpace(part))
		}
		number, isPercent := strings.CutSuffix(value, "%")
		switch {
		case seen[name]:
			return Resources{}, errDuplicate
		case i > 0 && isPercent != r.Percent:
			return Resources{}, errMixed
		}
		seen[name], r.Percent = true, isPercent
		n, err := Decimal(number)
		switch {
		case err != nil || !isPercent && !n.IsInt():
			return Resources{}, fmt.Errorf("%s: %q is not a number", name, value)
		case n.Sign() < 0:
			return Resources{}, errNegative
		case isPercent:
			r.percent(name, n)
		case kubernetesNames[name] == "memory":
			r.add(name, n.Num().String()+"Mi")
		default:
			r.add(name, n.Num().String())
		}
	}
	return r, nil
}

var bracket = regexp.MustCompile(`^([0-9]+)([numkMGTP]|[KMGTP]i)?$`)

// Bracketed reports whether a capacity is written as amounts: [memory=1024,vcores=4].
func Bracketed(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]")
}

// ParseBracket reads amounts as capacity-scheduler.xml has them, with or without units; memory without one is in MiB.
func ParseBracket(text string) (Resources, error) {
	var r Resources
	seen := map[string]bool{}
	for i, part := range strings.Split(strings.Trim(strings.TrimSpace(text), "[]"), ",") {
		name, value, ok := strings.Cut(part, "=")
		name, value = strings.TrimSpace(name), strings.ReplaceAll(value, " ", "")
		number, isPercent := strings.CutSuffix(value, "%")
		switch {
		case !ok || name == "":
			return Resources{}, fmt.Errorf("%q is not of the form [name=value,name=value]", text)
		case seen[name]:
			return Resources{}, errDuplicate
		case i > 0 && isPercent != r.Percent:
			return Resources{}, errMixed
		}
		seen[name], r.Percent = true, isPercent
		if isPercent {
			n, err := Decimal(number)
			if err != nil || n.Sign() < 0 {
				return Resources{}, fmt.Errorf("%s: %q is not a percentage", name, value)
			}
			r.percent(name, n)
			continue
		}
		match := bracket.FindStringSubmatch(value)
		if match == nil {
			return Resources{}, fmt.Errorf("%s: %q is not an amount such as 1024 or 10Gi", name, value)
		}
		if match[2] == "" && kubernetesNames[name] == "memory" {
			value += "Mi"
		}
		r.add(name, value)
	}
	return r, nil
}

// Of returns the amount of a resource, "" if there is none.
func (r Resources) Of(name string) string {
	for _, a := range r.Amounts {
		if a.Name == name {
			return a.Text
		}
	}
	return ""
}
