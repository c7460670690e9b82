package fairshare_test

import (
	"math"
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

const (
	unlimited       = resource.Unlimited
	gb        int64 = 1000 * 1000 * 1000
)

// claim is an active claimant of this weight (in milli) without min and max.
func claim(weight int64, options ...func(*fairshare.Claimant)) fairshare.Claimant {
	c := fairshare.Claimant{Weight: weight, Max: unlimited, Active: true}
	for _, o := range options {
		o(&c)
	}
	return c
}

func atLeast(v int64) func(*fairshare.Claimant) { return func(c *fairshare.Claimant) { c.Min = v } }
func atMost(v int64) func(*fairshare.Claimant)  { return func(c *fairshare.Claimant) { c.Max = v } }
func idle(c *fairshare.Claimant)                { c.Active = false }

func claims(cs ...fairshare.Claimant) []fairshare.Claimant { return cs }

type divideCase struct {
	total int64
	cs    []fairshare.Claimant
	want  []int64
}

func (c divideCase) run(t *testing.T) {
	t.Helper()
	if got := fairshare.Divide(c.total, c.cs, nil); !slices.Equal(got, c.want) {
		t.Errorf("got %v, want %v", got, c.want)
	}
}

// The numbers of the document that describes the Fair Scheduler.
func TestDivideAsDocumented(t *testing.T) {
	for name, c := range map[string]divideCase{
		"weight 0.25 of 1000 GB": {1000 * gb, claims(claim(250), claim(750)), []int64{250 * gb, 750 * gb}},
		"weight 0.25 of 200 cores": {
			200_000, claims(claim(250), claim(750)), []int64{50_000, 150_000}},
		"the others' weight may be in several queues": {
			200_000, claims(claim(250), claim(500), claim(250)), []int64{50_000, 100_000, 50_000}},
		"busy and sometimes-busy in 800 GB": {800 * gb, claims(claim(1000), claim(3000)), []int64{200 * gb, 600 * gb}},
		"busy and sometimes-busy in 200 cores": {
			200_000, claims(claim(1000), claim(3000)), []int64{50_000, 150_000}},
		"busy alone has everything": {800 * gb, claims(claim(1000), claim(3000, idle)), []int64{800 * gb, 0}},
	} {
		t.Run(name, c.run)
	}
}

func TestDivide(t *testing.T) {
	for name, c := range map[string]divideCase{
		"nobody":                        {100, nil, []int64{}},
		"nothing":                       {0, claims(claim(1000), claim(3000)), []int64{0, 0}},
		"less than nothing":             {-5, claims(claim(1000), claim(1000, atLeast(7))), []int64{0, 7}},
		"one alone":                     {100, claims(claim(1)), []int64{100}},
		"thirds are rounded down":       {10240, claims(claim(1000), claim(1000), claim(1000)), []int64{3413, 3413, 3413}},
		"one unit cannot be halved":     {1, claims(claim(1000), claim(1000)), []int64{0, 0}},
		"only the proportion counts":    {100, claims(claim(1), claim(3)), []int64{25, 75}},
		"a floor above the share":       {100, claims(claim(1000, atLeast(70)), claim(1000)), []int64{70, 30}},
		"a floor below the share":       {100, claims(claim(1000, atLeast(20)), claim(1000)), []int64{50, 50}},
		"a cap below the share":         {100, claims(claim(1000, atMost(20)), claim(1000)), []int64{20, 80}},
		"a cap above the share":         {100, claims(claim(1000, atMost(70)), claim(1000)), []int64{50, 50}},
		"caps that leave some over":     {100, claims(claim(1000, atMost(20)), claim(1000, atMost(30))), []int64{20, 30}},
		"a cap frees for several":       {100, claims(claim(1000, atMost(10)), claim(1000), claim(2000)), []int64{10, 30, 60}},
		"a floor takes from several":    {100, claims(claim(1000, atLeast(70)), claim(1000), claim(2000)), []int64{70, 10, 20}},
		"floor and cap in one division": {100, claims(claim(1000, atLeast(40)), claim(1000, atMost(10)), claim(1000)), []int64{45, 10, 45}},
		"floors that take everything":   {100, claims(claim(1000, atLeast(60)), claim(1000, atLeast(40)), claim(1000)), []int64{60, 40, 0}},
		"floors that take more":         {100, claims(claim(1000, atLeast(80)), claim(1000, atLeast(80)), claim(1000)), []int64{80, 80, 0}},
		"floor equal to cap":            {100, claims(claim(1000, atLeast(10), atMost(10)), claim(1000)), []int64{10, 90}},
		"cap below floor: the floor":    {100, claims(claim(1000, atLeast(30), atMost(10)), claim(1000)), []int64{30, 70}},
		"cap 0":                         {100, claims(claim(1000, atMost(0)), claim(1000)), []int64{0, 100}},
		"cap 0 and a floor: the floor":  {100, claims(claim(1000, atLeast(30), atMost(0)), claim(1000)), []int64{30, 70}},
		"a negative cap":                {100, claims(claim(1000, atMost(-5)), claim(1000)), []int64{0, 100}},
		"a negative floor":              {100, claims(claim(1000, atLeast(-5)), claim(1000)), []int64{50, 50}},
		"idle":                          {100, claims(claim(1000, idle), claim(1000)), []int64{0, 100}},
		"idle with a floor":             {100, claims(claim(1000, idle, atLeast(30)), claim(1000)), []int64{0, 100}},
		"weight 0":                      {100, claims(claim(0), claim(1000)), []int64{0, 100}},
		"weight 0 with a floor":         {100, claims(claim(0, atLeast(30)), claim(1000), claim(1000)), []int64{30, 35, 35}},
		"weight 0 alone":                {100, claims(claim(0)), []int64{0}},
		"weight 0, floor above total":   {100, claims(claim(0, atLeast(130)), claim(1000)), []int64{130, 0}},
		"negative weight is weight 0":   {100, claims(claim(-1000, atLeast(30)), claim(1000)), []int64{30, 70}},
		"idle with weight 0 and floor":  {100, claims(claim(0, idle, atLeast(30)), claim(1000)), []int64{0, 100}},
	} {
		t.Run(name, c.run)
	}
}

func TestDivideHugeAmounts(t *testing.T) {
	const most = math.MaxInt64
	for name, c := range map[string]divideCase{
		"2^60 bytes":                        {1 << 60, claims(claim(1000), claim(3000)), []int64{1 << 58, 3 << 58}},
		"the largest amount":                {most, claims(claim(1000), claim(1000)), []int64{1<<62 - 1, 1<<62 - 1}},
		"the largest amount for one":        {most, claims(claim(1000)), []int64{most}},
		"the largest weights":               {1 << 60, claims(claim(most), claim(most)), []int64{1 << 59, 1 << 59}},
		"weights whose sum would wrap":      {300, claims(claim(most), claim(most), claim(most)), []int64{100, 100, 100}},
		"a huge weight beside a small one":  {1 << 30, claims(claim(1<<50), claim(1)), []int64{1<<30 - 1, 0}},
		"floors whose sum would wrap":       {100, claims(claim(1000, atLeast(most)), claim(1000, atLeast(most))), []int64{most, most}},
		"fixed floors whose sum would wrap": {100, claims(claim(0, atLeast(most)), claim(0, atLeast(most)), claim(1)), []int64{most, most, 0}},
		// The largest amount is 1001 x 9214157878975800 + 7, and 7 x 1000/1001 is 6.99.
		"a cap one below the largest amount":    {most, claims(claim(1000, atMost(most-1)), claim(1)), []int64{9214157878975800_006, 9214157878975800}},
		"a floor of the largest amount and cap": {most, claims(claim(1000, atLeast(most)), claim(1000)), []int64{most, 0}},
	} {
		t.Run(name, c.run)
	}
}

func TestDivideReusesWhatItIsGiven(t *testing.T) {
	out := []int64{9, 9, 9, 9, 9}
	got := fairshare.Divide(100, claims(claim(0), claim(1000)), out)
	if !slices.Equal(got, []int64{0, 100}) {
		t.Errorf("got %v", got)
	}
	if &got[0] != &out[0] {
		t.Error("a slice that was long enough was not used")
	}
}
