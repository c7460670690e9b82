package resource

import (
	"strconv"
	"strings"
)

var (
	decimalSuffixes = []string{"", "k", "M", "G", "T", "P", "E"}
	binarySuffixes  = []string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}
)

// Format prints one amount as a canonical Kubernetes quantity, so that our sentences match `kubectl describe`
// letter by letter: "62" or "1500m" for cpu, "20Gi" for memory, "3" for devices. Unlimited is "unlimited". Bytes
// have a binary or a decimal suffix, whichever takes fewer digits: mostly that is how people wrote them ("64Gi", "100G").
func Format(n Name, v int64) string {
	if v == Unlimited {
		return "unlimited"
	}
	digits := magnitude(v)
	var text string
	switch {
	case n == CPU && digits%1000 != 0:
		text = strconv.FormatUint(digits, 10) + "m"
	case n == CPU:
		text = withSuffix(digits/1000, 1000, decimalSuffixes)
	case HasBinarySuffix(n, v):
		text = withSuffix(digits, 1024, binarySuffixes)
	default:
		text = withSuffix(digits, 1000, decimalSuffixes)
	}
	if v < 0 {
		return "-" + text
	}
	return text
}

// HasBinarySuffix reports whether an amount is printed with a binary suffix: bytes are, where that takes no more digits than a
// decimal one. As Kubernetes does, less than 1Ki is decimal.
func HasBinarySuffix(n Name, v int64) bool {
	bytes := magnitude(v)
	if !countsBytes(n) || bytes < 1024 {
		return false
	}
	binary, _ := divided(bytes, 1024)
	decimal, _ := divided(bytes, 1000)
	return digitsOf(binary) <= digitsOf(decimal)
}

func digitsOf(v uint64) (n int) {
	for ; v > 0; v /= 10 {
		n++
	}
	return n
}

func withSuffix(v, factor uint64, suffixes []string) string {
	v, power := divided(v, factor)
	return strconv.FormatUint(v, 10) + suffixes[power]
}

// divided is v divided by the factor as often as that divides evenly and there are suffixes (as many binary as decimal ones), and
// how often that is: a canonical quantity has no fraction and the largest possible suffix.
func divided(v, factor uint64) (rest uint64, power int) {
	for v != 0 && v%factor == 0 && power < len(decimalSuffixes)-1 {
		v /= factor
		power++
	}
	return v, power
}

// countsBytes reports whether a resource is customarily written in powers of 1024.
func countsBytes(n Name) bool {
	return n == Memory || n == EphemeralStorage || strings.HasPrefix(string(n), "hugepages-")
}

// Decimal prints thousandths as people write weights and shares: "1", "0.25".
func Decimal(milli int64) string {
	text := strconv.FormatInt(milli/1000, 10)
	if rest := milli % 1000; rest != 0 {
		text += "." + strings.TrimRight(strconv.FormatInt(1000+rest, 10)[1:], "0")
	}
	return text
}

// Percent prints millionths of a percent: "12.5%".
func Percent(millionths int64) string {
	const one = 1_000_000
	text := strconv.FormatInt(millionths/one, 10)
	if rest := millionths % one; rest != 0 {
		text += "." + strings.TrimRight(strconv.FormatInt(one+rest, 10)[1:], "0")
	}
	return text + "%"
}
