package scenario

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// statement is one line, taken apart: its name, words, and options of the form
// key=value, key=(name=value, name=value) or, for amounts, name=value.
type statement struct {
	name    string
	words   []string
	options []option
}

type option struct{ datadriven.CmdArg }

// value is what is written behind the equals sign, without parentheses.
func (o option) value() string { return strings.Join(o.Vals, ", ") }

func parseStatement(line string) (statement, error) {
	name, args, err := datadriven.ParseLine(line)
	s := statement{name: name}
	for _, arg := range args {
		if len(arg.Vals) == 0 {
			s.words = append(s.words, arg.Key)
		} else {
			s.options = append(s.options, option{arg})
		}
	}
	return s, err
}

// word returns the only word of the statement.
func (s statement) word(what string) (string, error) {
	if len(s.words) != 1 {
		return "", fmt.Errorf("%s takes one %s, not %d", s.name, what, len(s.words))
	}
	return s.words[0], nil
}

// amounts reads all options as amounts: cpu=4 memory=8Gi.
func (s statement) amounts() (resource.List, error) {
	return parseAmounts(s.options)
}

func parseAmounts(options []option) (resource.List, error) {
	var entries []resource.Entry
	for _, o := range options {
		v, err := parseQuantity(resource.Name(o.Key), o.value())
		if err != nil {
			return resource.List{}, err
		}
		entries = append(entries, resource.Entry{Name: resource.Name(o.Key), Value: v})
	}
	return resource.Of(entries...), nil
}

// parseParts reads an option that is a list of amounts, absolute or in percent of the
// cluster: "(cpu=4, memory=12.5%)", or "cpu=4" for a single one.
func parseParts(o option) (absolute, percent resource.List, err error) {
	var amounts, parts []resource.Entry
	for _, part := range o.Vals {
		key, v, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok {
			return absolute, percent, fmt.Errorf("%q is not a list of amounts like (cpu=4, memory=8Gi)", o.value())
		}
		entry := resource.Entry{Name: resource.Name(key)}
		number, isPercent := strings.CutSuffix(v, "%")
		if !isPercent {
			if entry.Value, err = parseQuantity(entry.Name, v); err != nil {
				return absolute, percent, err
			}
			amounts = append(amounts, entry)
			continue
		}
		if entry.Value, err = parseWeight(number); err != nil { // percent have three decimals, as weights have
			return absolute, percent, fmt.Errorf("%s: %q is not a percentage", key, v)
		}
		parts = append(parts, entry)
	}
	return resource.Of(amounts...), resource.Of(parts...), nil
}

// parseList reads a list of absolute amounts.
func parseList(o option) (resource.List, error) {
	absolute, percent, err := parseParts(o)
	if err == nil && percent.Len() > 0 {
		err = fmt.Errorf("%q: only queues have amounts in percent", o.value())
	}
	return absolute, err
}

// suffixes of quantities, as fractions of one unit.
var suffixes = []struct {
	text     string
	num, den int64
}{
	{"Ki", 1 << 10, 1}, {"Mi", 1 << 20, 1}, {"Gi", 1 << 30, 1}, {"Ti", 1 << 40, 1}, {"Pi", 1 << 50, 1}, {"Ei", 1 << 60, 1},
	{"m", 1, 1000},
	{"k", 1e3, 1}, {"M", 1e6, 1}, {"G", 1e9, 1}, {"T", 1e12, 1}, {"P", 1e15, 1}, {"E", 1e18, 1},
	{"", 1, 1},
}

// parseQuantity reads "4", "500m", "0.25", "8Gi" into the unit in which the core counts
// the resource. It refuses what is not a whole number of that unit instead of
// rounding: a scenario says what it means.
func parseQuantity(n resource.Name, text string) (int64, error) {
	var num, den int64 = 1, 1
	digits := text
	for _, s := range suffixes {
		if rest, ok := strings.CutSuffix(text, s.text); ok {
			digits, num, den = rest, s.num, s.den
			break
		}
	}
	if n == resource.CPU { // counted in thousandths
		if den == 1000 {
			den = 1
		} else {
			num = resource.SatMul(num, 1000)
		}
	}
	mantissa, scale, ok := parseDecimal(digits)
	if !ok {
		return 0, fmt.Errorf("%s: %q is not a quantity", n, text)
	}
	den *= scale
	hi, lo := bits.Mul64(uint64(mantissa), uint64(num))
	if hi >= uint64(den) {
		return 0, fmt.Errorf("%s: %q is too large", n, text)
	}
	v, rest := bits.Div64(hi, lo, uint64(den))
	switch {
	case rest != 0:
		return 0, fmt.Errorf("%s: %q is not a whole number of its smallest unit", n, text)
	case v > math.MaxInt64:
		return 0, fmt.Errorf("%s: %q is too large", n, text)
	}
	return int64(v), nil
}

// parseDecimal reads "1.25" as 125 and 100. It takes up to 18 digits, which fit into an
// int64, and up to 15 after the point, which leaves room for the thousandth of "m".
func parseDecimal(text string) (mantissa, scale int64, ok bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	if whole == "" || len(whole)+len(fraction) > 18 || len(fraction) > 15 {
		return 0, 0, false
	}
	scale = 1
	for range len(fraction) {
		scale *= 10
	}
	for _, c := range whole + fraction {
		if c < '0' || c > '9' {
			return 0, 0, false
		}
		mantissa = mantissa*10 + int64(c-'0')
	}
	return mantissa, scale, true
}

// parseWeight reads a weight into milli-units.
func parseWeight(text string) (int64, error) {
	v, err := parseQuantity(resource.CPU, text)
	if err != nil {
		return 0, fmt.Errorf("weight: %q is not a number of at least 0 with at most three decimals", text)
	}
	return v, nil
}

// parseCount reads a number of things as a limit.
func parseCount(o option) (queue.Limit, error) {
	n, err := strconv.ParseUint(o.value(), 10, 31)
	if err != nil {
		return queue.Limit{}, fmt.Errorf("%s: %q is not a number from 0 to %d", o.Key, o.value(), math.MaxInt32)
	}
	return queue.AtMost(int64(n)), nil
}

// parseCountOrUnset is parseCount, where "unset" is not stated.
func parseCountOrUnset(o option) (queue.Limit, error) {
	if o.value() == "unset" {
		return queue.Limit{}, nil
	}
	return parseCount(o)
}

// parseStartingTimeout reads how long an application may be starting.
func parseStartingTimeout(o option) (queue.StartingTimeout, error) {
	if o.value() == "adaptive" {
		return queue.StartingTimeout{Adaptive: true}, nil
	}
	d, err := time.ParseDuration(o.value())
	if err != nil || d <= 0 {
		return queue.StartingTimeout{}, fmt.Errorf("%s: %q is neither a duration like 30s or 5m nor the word adaptive", o.Key, o.value())
	}
	return queue.StartingTimeout{Nanoseconds: d.Nanoseconds()}, nil
}

// parsePercent reads "12.5%" into thousandths of a percent; "unset" is not stated.
func parsePercent(o option) (queue.Limit, error) {
	if o.value() == "unset" {
		return queue.Limit{}, nil
	}
	number, percent := strings.CutSuffix(o.value(), "%")
	n, err := parseQuantity(resource.CPU, number)
	if err != nil || !percent || n > queue.Whole {
		return queue.Limit{}, fmt.Errorf("%s: %q is not a percentage from 0%% to 100%%", o.Key, o.value())
	}
	return queue.AtMost(n), nil
}

// parseRatio reads a part of a whole, as a limit in milli-units.
func parseRatio(o option) (queue.Limit, error) {
	n, err := parseQuantity(resource.CPU, o.value())
	if err != nil || n > 1000 {
		return queue.Limit{}, fmt.Errorf("%s: %q is not a number from 0 to 1 with at most three decimals", o.Key, o.value())
	}
	return queue.AtMost(n), nil
}
