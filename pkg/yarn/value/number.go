package value

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// A number as Java's parseFloat and parseDouble take it, but for hexadecimal ones. Exponents of more digits are no honest numbers.
var decimal = regexp.MustCompile(`^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,2})?[fFdD]?$`)

// Decimal reads a number with a fraction.
func Decimal(text string) (*big.Rat, error) {
	text = strings.TrimSpace(text)
	if !decimal.MatchString(text) {
		return nil, fmt.Errorf("%q is not a number", text)
	}
	r, ok := new(big.Rat).SetString(strings.TrimRight(text, "fFdD"))
	if !ok {
		return nil, fmt.Errorf("%q is not a number", text)
	}
	return r, nil
}

// Int reads a number without a fraction, of 32 bits.
func Int(text string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%q is not a whole number of 32 bits", strings.TrimSpace(text))
	}
	return n, nil
}

// Long reads a number without a fraction, of 64 bits.
func Long(text string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a whole number", strings.TrimSpace(text))
	}
	return n, nil
}

// Rounded writes a number with at most so many decimals. It reports whether nothing was lost.
func Rounded(r *big.Rat, decimals int) (text string, exact bool) {
	text = r.FloatString(decimals)
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	back, _ := new(big.Rat).SetString(text)
	if text == "-0" {
		text = "0"
	}
	return text, back != nil && back.Cmp(r) == 0
}

// Number writes a number as a field has it: a whole one as a number, one with a fraction as text.
func Number(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	return text
}
