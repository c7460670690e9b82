package value

import (
	"math/big"
	"reflect"
	"testing"
)

func TestDecimal(t *testing.T) {
	for text, want := range map[string]string{
		"1": "1", " 2.50 ": "5/2", ".5": "1/2", "5.": "5", "-1": "-1", "+3": "3", "1e3": "1000", "1E-2f": "1/100", "7D": "7",
		"": "", "x": "", "1/2": "", "0x10": "", "1_000": "", "1e999": "", "--1": "", "NaN": "", "1 2": "",
	} {
		got, err := Decimal(text)
		if (err != nil) != (want == "") || err == nil && got.RatString() != want {
			t.Errorf("%q is %v, %v; want %q", text, got, err, want)
		}
	}
}

func TestRounded(t *testing.T) {
	for _, tc := range []struct {
		r     *big.Rat
		want  string
		exact bool
	}{
		{big.NewRat(1, 4), "0.25", true}, {big.NewRat(1, 3), "0.333", false}, {big.NewRat(2, 3), "0.667", false}, {big.NewRat(100, 1), "100", true},
		{big.NewRat(0, 1), "0", true}, {big.NewRat(1, 10000), "0", false}, {big.NewRat(-1, 10000), "0", false},
	} {
		if got, exact := Rounded(tc.r, 3); got != tc.want || exact != tc.exact {
			t.Errorf("%s is %s, %t; want %s, %t", tc.r, got, exact, tc.want, tc.exact)
		}
	}
}

func TestDuration(t *testing.T) {
	for seconds, want := range map[int64]string{0: "0s", 1: "1s", 60: "1m", 90: "1m30s", 3600: "1h", 86400: "24h", 3661: "1h1m1s"} {
		if got := Duration(seconds); got != want {
			t.Errorf("%d seconds are %s, want %s", seconds, got, want)
		}
	}
	for _, tc := range []struct {
		ms, least, seconds int64
		exact              bool
	}{{3000, 1, 3, true}, {1500, 1, 2, false}, {1499, 1, 1, false}, {0, 1, 1, false}, {0, 0, 0, true}, {9_000_000, 0, 3600, false}, {-5, 0, 0, false}} {
		if s, exact := Seconds(tc.ms, tc.least, 3600); s != tc.seconds || exact != tc.exact {
			t.Errorf("%d ms are %d, %t; want %d, %t", tc.ms, s, exact, tc.seconds, tc.exact)
		}
	}
}

// The examples are those of Hadoop's grammar: users, a blank, groups; a star in either place; no trimming of the whole.
func TestACL(t *testing.T) {
	for text, want := range map[string]ACL{
		"ann,bob etl,ops": {Users: []string{"ann", "bob"}, Groups: []string{"etl", "ops"}},
		"ann":             {Users: []string{"ann"}},
		" etl":            {Groups: []string{"etl"}},
		"*":               {Everyone: true, Users: []string{"*"}},
		"ann *":           {Everyone: true, Users: []string{"ann"}, Groups: []string{"*"}},
		" ":               {},
		"":                {},
		"ann, bob etl":    {Users: []string{"ann"}, Groups: []string{"bob etl"}},
		"\n  ann":         {Groups: []string{"ann"}},
		"a*":              {Users: []string{"a*"}},
	} {
		if got := ParseACL(text); !reflect.DeepEqual(got, want) || got.Nobody() != reflect.DeepEqual(want, ACL{}) {
			t.Errorf("%q is %+v, want %+v", text, got, want)
		}
	}
}

func TestBrackets(t *testing.T) {
	for text, want := range map[string][]Amount{
		"[memory=1024,vcores=4]":        {{"cpu", "4"}, {"memory", "1024Mi"}},
		" [ memory-mb = 10Gi ] ":        {{"memory", "10Gi"}},
		"[vcores=2,example.com/gpu=1k]": {{"cpu", "2"}, {"example.com/gpu", "1k"}},
		"[memory=50%,vcores=12.5%]":     {{"cpu", "12.5%"}, {"memory", "50%"}},
		"[memory=1024,vcores=5%]":       nil,
		"[memory=1,memory=2]":           nil,
		"[memory]":                      nil,
		"[memory=-1]":                   nil,
		"[memory=1.5Gi]":                nil,
		"[memory=-5%]":                  nil,
	} {
		r, err := ParseBracket(text)
		if (err != nil) != (want == nil) || err == nil && !reflect.DeepEqual(r.Amounts, want) {
			t.Errorf("%q is %v, %v; want %v", text, r.Amounts, err, want)
		}
	}
}
