package convert

import (
	"math"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// amounts makes a Kubernetes resource list from "name", "quantity" pairs.
func amounts(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = apiresource.MustParse(pairs[i+1])
	}
	return out
}

func TestAmounts(t *testing.T) {
	for name, tc := range map[string]struct {
		in   corev1.ResourceList
		want string
	}{
		"an empty list stays empty":                        {nil, ""},
		"cpu is counted in milli-cores":                    {amounts("cpu", "1.5"), "cpu=1500m"},
		"memory is counted in bytes":                       {amounts("memory", "64Mi"), "memory=64Mi"},
		"devices are counted in units":                     {amounts("example.com/gpu", "3"), "example.com/gpu=3"},
		"entries come out in name order":                   {amounts("memory", "1Gi", "cpu", "1", "a.com/x", "2"), "a.com/x=2 cpu=1 memory=1Gi"},
		"pods are left to the kubelet":                     {amounts("pods", "110", "cpu", "1"), "cpu=1"},
		"a part of a milli-core is rounded up":             {amounts("cpu", "100u"), "cpu=1m"},
		"a part of a byte is rounded up":                   {amounts("memory", "1500m"), "memory=2"},
		"zero is kept, as a limit of zero means something": {amounts("cpu", "0"), "cpu=0"},
		"a negative amount counts as zero":                 {amounts("cpu", "-3"), "cpu=0"},
		"an amount past 64 bits is unlimited":              {amounts("memory", "1e30"), "memory=unlimited"},
		"cpu saturates in milli-cores, too":                {amounts("cpu", "9300000000000000"), "cpu=unlimited"},
		"the largest binary quantity is unlimited":         {amounts("memory", "1000000Ei"), "memory=unlimited"},
		"an absurd exponent is unlimited, at once":         {amounts("memory", "1e2000000"), "memory=unlimited"},
		"the end of 64 bits is unlimited":                  {amounts("memory", "9223372036854775807"), "memory=unlimited"},
		"below the saturation point amounts are exact":     {amounts("memory", "9100000000000000001"), "memory=9100000000000000001"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Amounts(tc.in).String(); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// Any quantity comes out as the exact value rounded up, or saturated; computed here with big integers.
func TestAmountsAreExact(t *testing.T) {
	suffixes := map[string]*big.Rat{}
	for i, s := range []string{"n", "u", "m", "", "k", "M", "G", "T", "P", "E"} {
		r := big.NewRat(1, 1_000_000_000)
		for range i {
			r.Mul(r, big.NewRat(1000, 1))
		}
		suffixes[s] = r
	}
	for i, s := range []string{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"} {
		suffixes[s] = new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(10*(i+1))))
	}
	names := make([]string, 0, len(suffixes))
	for s := range suffixes {
		names = append(names, s)
	}
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.StringMatching(`[0-9]{1,19}(\.[0-9]{1,3})?`).Draw(t, "number")
		suffix := rapid.SampledFrom(names).Draw(t, "suffix")
		q, err := apiresource.ParseQuantity(number + suffix)
		if err != nil {
			t.Skip()
		}
		exact, _ := new(big.Rat).SetString(number)
		exact.Mul(exact, suffixes[suffix])
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			want := new(big.Rat).Set(exact)
			if name == corev1.ResourceCPU {
				want.Mul(want, big.NewRat(1000, 1))
			}
			got := amount(name, q)
			if got == resource.Unlimited {
				if want.Cmp(new(big.Rat).SetFloat64(saturation*0.999999)) < 0 {
					t.Fatalf("%s %s%s is unlimited", name, number, suffix)
				}
				continue
			}
			ceiling := new(big.Int).Div(new(big.Int).Add(want.Num(), new(big.Int).Sub(want.Denom(), big.NewInt(1))), want.Denom())
			// Kubernetes itself rounds to nano units first; that moves a value by less than one unit upwards, never past the ceiling.
			if !ceiling.IsInt64() || ceiling.Int64() != got {
				t.Fatalf("%s %s%s is %d, want %s", name, number, suffix, got, ceiling)
			}
		}
	})
}

// FuzzAmounts reads what a person may write, however it is spelled.
func FuzzAmounts(f *testing.F) {
	for _, s := range []string{"1", "1500m", "0.1", "-3", "1e3", "1E", "9223372036854775807", "1e-9", "1n", "7Ei", "1e2000000", "1e2020000000000000", "1E-99", "+1.5Ki"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q, err := parse(s)
		if err != nil {
			return
		}
		got := Amounts(corev1.ResourceList{corev1.ResourceMemory: q}).Get(resource.Memory)
		dec := q.AsDec()
		exact := new(big.Rat).SetInt(dec.UnscaledBig())
		power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(dec.Scale(), -dec.Scale()))), nil))
		if dec.Scale() > 0 {
			exact.Quo(exact, power)
		} else {
			exact.Mul(exact, power)
		}
		least, most := exact, new(big.Rat).Add(exact, big.NewRat(1, 1))
		switch value := new(big.Rat).SetInt64(got); {
		case exact.Sign() <= 0 && got != 0,
			exact.Sign() > 0 && got != resource.Unlimited && (value.Cmp(least) < 0 || value.Cmp(most) >= 0),
			got == resource.Unlimited && exact.Cmp(new(big.Rat).SetFloat64(saturation*0.999999)) < 0:
			t.Fatalf("%q is %d, exactly it is %s", s, got, exact.FloatString(3))
		}
	})
}

func TestResourceListIsCanonical(t *testing.T) {
	names := []resource.Name{"cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "example.com/gpu"}
	rapid.Check(t, func(t *rapid.T) {
		e := resource.Entry{
			Name:  rapid.SampledFrom(names).Draw(t, "name"),
			Value: rapid.Int64Range(0, math.MaxInt64/2).Draw(t, "value"),
		}
		if rapid.Bool().Draw(t, "round") {
			e.Value = e.Value >> 33 << 20
		}
		q := ResourceList(resource.Of(e))[corev1.ResourceName(e.Name)]
		if got, want := q.String(), resource.Format(e.Name, e.Value); got != want {
			t.Fatalf("%s %d is spelled %q in a status and %q in a sentence", e.Name, e.Value, got, want)
		}
	})
}

func TestResourceListRoundTrips(t *testing.T) {
	in := resource.Of(
		resource.Entry{Name: "cpu", Value: 1500}, resource.Entry{Name: "memory", Value: 20 << 30}, resource.Entry{Name: "a.com/x", Value: 0})
	if got := Amounts(ResourceList(in)); got.String() != in.String() {
		t.Errorf("got %v, want %v", got, in)
	}
	if diff := cmp.Diff(corev1.ResourceList(nil), ResourceList(resource.List{})); diff != "" {
		t.Errorf("an empty list is not nil (-want +got):\n%s", diff)
	}
}
