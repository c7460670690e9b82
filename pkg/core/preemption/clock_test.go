package preemption_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

const second = int64(1e9)

func timeout(seconds int64) queue.Timeout {
	return queue.Timeout{Stated: true, Nanoseconds: seconds * second}
}

// A queue that falls below its bound just after pods of it were evicted falls because of that. It says so until clock and claim have ended.
func TestAClockAfterAnEviction(t *testing.T) {
	const now = 100 * second
	at := func(usage, evictedAt int64) preemption.ClockInput {
		return preemption.ClockInput{Total: amounts(100, 0), Waiting: true, Usage: amounts(usage, 0), Settled: amounts(usage, 0), Bound: amounts(20, 0), Target: amounts(40, 0),
			Timeout: timeout(60), EvictedAt: evictedAt}
	}
	for name, c := range map[string]struct {
		from preemption.Clock
		in   preemption.ClockInput
		want bool
	}{
		"none was evicted":                      {preemption.Clock{}, at(19, 0), false},
		"just now":                              {preemption.Clock{}, at(19, now), true},
		"ten seconds ago":                       {preemption.Clock{}, at(19, now-10*second), true},
		"longer ago":                            {preemption.Clock{}, at(19, now-10*second-1), false},
		"it was below before":                   {preemption.Clock{Since: second}, at(19, now), false},
		"its claim was open before":             {preemption.Clock{Claimed: second}, at(19, now), false},
		"that goes on with the clock":           {preemption.Clock{Since: second, AfterEviction: true}, at(19, 0), true},
		"that goes on with the claim":           {preemption.Clock{Claimed: second, AfterEviction: true}, at(39, 0), true},
		"that ends when nothing is owed":        {preemption.Clock{Claimed: second, AfterEviction: true}, at(40, 0), false},
		"that ends with a clock, with no claim": {preemption.Clock{Since: second, AfterEviction: true}, at(20, 0), false},
	} {
		if got := c.from.Next(c.in, now); got.AfterEviction != c.want {
			t.Errorf("%s: %+v becomes %+v", name, c.from, got)
		}
	}
	if opened, _ := (preemption.Clock{Since: second, AfterEviction: true}).Tick(timeout(60), now); !opened.AfterEviction {
		t.Errorf("the claim does not know why its queue is starved: %+v", opened)
	}
	replaces := &preemption.Candidate{Replaces: 5}
	for c, want := range map[preemption.Clock]bool{{Since: 5}: true, {Since: 6}: false, {Since: 6, AfterEviction: true}: true} {
		claim := preemption.Claim{Since: c.Since, AfterEviction: c.AfterEviction}
		if claim.Exempts(replaces) != want || claim.Exempts(&preemption.Candidate{}) {
			t.Errorf("%+v exempts the replacement: %v, want %v, and no other pod", c, claim.Exempts(replaces), want)
		}
	}
}

// A queue with a fair share of 40 cores, a threshold of one half, and a timeout of a minute.
func TestAClock(t *testing.T) {
	waits := func(usage, settled int64) preemption.ClockInput {
		return preemption.ClockInput{
			Total: amounts(100, 0), Waiting: true, Usage: amounts(usage, 0), Settled: amounts(settled, 0),
			Bound: amounts(20, 0), Target: amounts(40, 0), Timeout: timeout(60),
		}
	}
	with := func(in preemption.ClockInput, change func(*preemption.ClockInput)) preemption.ClockInput {
		change(&in)
		return in
	}
	remembers := func(in preemption.ClockInput, m preemption.ClockMemory) preemption.ClockInput {
		in.Stored = m
		return in
	}
	running := preemption.Clock{Since: 10 * second}
	claiming := preemption.Clock{Since: 10 * second, Claimed: 10 * second}
	const now = 100 * second
	for name, c := range map[string]struct {
		from preemption.Clock
		in   preemption.ClockInput
		want preemption.Clock
	}{
		"it starts below the bound":                   {preemption.Clock{}, waits(19, 19), preemption.Clock{Since: now}},
		"not at the bound":                            {preemption.Clock{}, waits(20, 20), preemption.Clock{}},
		"not while an attempt may lift it there":      {preemption.Clock{}, waits(20, 19), preemption.Clock{}},
		"it runs on below the bound":                  {running, waits(19, 19), running},
		"an attempt does not stop it":                 {running, waits(20, 19), running},
		"a pod that has its node does":                {running, waits(20, 20), preemption.Clock{}},
		"a queue that waits for nothing has no clock": {running, with(waits(0, 0), func(in *preemption.ClockInput) { in.Waiting = false }), preemption.Clock{}},
		"a claim outlives its clock":                  {claiming, waits(39, 39), preemption.Clock{Claimed: 10 * second}},
		"an attempt does not end a claim":             {claiming, waits(40, 39), preemption.Clock{Claimed: 10 * second}},
		"a claim is paid at the target":               {claiming, waits(40, 40), preemption.Clock{}},
		"a claim ends when nothing waits":             {claiming, with(waits(0, 0), func(in *preemption.ClockInput) { in.Waiting = false }), preemption.Clock{}},
		"a claim ends without a timeout":              {claiming, with(waits(0, 0), func(in *preemption.ClockInput) { in.Timeout = queue.Timeout{} }), running},
		"a clock is taken over":                       {preemption.Clock{}, remembers(waits(0, 0), preemption.ClockMemory{Since: 7}), preemption.Clock{Since: 7}},
		"also while an attempt runs":                  {preemption.Clock{}, remembers(waits(20, 19), preemption.ClockMemory{Since: 7}), preemption.Clock{Since: 7}},
		"one of the future begins now":                {preemption.Clock{}, remembers(waits(0, 0), preemption.ClockMemory{Since: now + 1}), preemption.Clock{Since: now}},
		"one of a queue that is not below is not":     {preemption.Clock{}, remembers(waits(20, 20), preemption.ClockMemory{Since: 7}), preemption.Clock{}},
		"a clock that began again after a declined claim goes on": {
			preemption.Clock{}, remembers(waits(0, 0), preemption.ClockMemory{Since: 7 * second, Due: 150 * second}),
			preemption.Clock{Since: 7 * second, Declined: 90 * second},
		},
		"a due time of the first timeout says no more": {
			preemption.Clock{}, remembers(waits(0, 0), preemption.ClockMemory{Since: 7 * second, Due: 67 * second}), preemption.Clock{Since: 7 * second},
		},
		"a claim was not declined in the future": {
			preemption.Clock{}, remembers(waits(0, 0), preemption.ClockMemory{Since: 7 * second, Due: 500 * second}),
			preemption.Clock{Since: 7 * second, Declined: now},
		},
		"a claim is taken over":                        {preemption.Clock{}, remembers(waits(0, 0), preemption.ClockMemory{Since: 7, Claims: true}), preemption.Clock{Since: 7, Claimed: 7}},
		"a claim without its clock opens now":          {preemption.Clock{}, remembers(waits(30, 30), preemption.ClockMemory{Claims: true}), preemption.Clock{Claimed: now}},
		"a claim that is paid by now is not":           {preemption.Clock{}, remembers(waits(40, 40), preemption.ClockMemory{Claims: true}), preemption.Clock{}},
		"a claim that is open is not taken over again": {claiming, remembers(waits(0, 0), preemption.ClockMemory{Since: 7, Claims: true}), claiming},
	} {
		if got := c.from.Next(c.in, now); got != c.want {
			t.Errorf("%s: %+v becomes %+v, want %+v", name, c.from, got, c.want)
		}
	}
}

func TestAClockOpensAClaimWhenItsTimeoutPasses(t *testing.T) {
	running := preemption.Clock{Since: 10 * second}
	for name, c := range map[string]struct {
		from    preemption.Clock
		timeout queue.Timeout
		now     int64
		due     int64
		opens   bool
	}{
		"before":                {running, timeout(60), 70*second - 1, 70 * second, false},
		"at the moment":         {running, timeout(60), 70 * second, 70 * second, true},
		"no timeout":            {running, queue.Timeout{}, 1000 * second, 0, false},
		"never":                 {running, queue.Timeout{Stated: true, Never: true, Nanoseconds: second}, 1000 * second, 0, false},
		"no clock runs":         {preemption.Clock{}, timeout(60), 1000 * second, 0, false},
		"the claim is open":     {preemption.Clock{Since: 10 * second, Claimed: 5}, timeout(60), 1000 * second, 0, false},
		"it outlived its clock": {preemption.Clock{Claimed: 5}, timeout(60), 1000 * second, 0, false},
	} {
		if got := c.from.Due(c.timeout); got != c.due {
			t.Errorf("%s: it is due at %d, want %d", name, got, c.due)
		}
		next, opened := c.from.Tick(c.timeout, c.now)
		want := c.from
		if c.opens {
			want.Claimed = want.Since
		}
		if opened != c.opens || next != want {
			t.Errorf("%s: got %+v, opened: %v", name, next, opened)
		}
	}
}

// A look at one queue with a fair share of 40 of 100 cores, and its cores at that time.
type clockLook struct {
	at             int64
	settled, tried int64
	waits, timeout bool
	declines       bool // nobody may pay the claim, if one is open
	open           bool // one was
}

// clockTwin tells the clock and the claim from the whole history.
func clockTwin(looks []clockLook) (c preemption.Clock) {
	last := len(looks) - 1
	if !looks[last].waits {
		return c
	}
	// The clock began with the first look, since the last that was not below, in which the queue was below with all its attempts.
	began := func(to int) (since int64) {
		for i := to; i >= 0 && looks[i].waits && looks[i].settled < 20; i-- {
			if looks[i].settled+looks[i].tried < 20 {
				since = looks[i].at
			}
		}
		return since
	}
	// The timeout began again when the last claim that was open before this look was declined, if the clock has run ever since.
	declined := func(before int) int64 {
		for i := before - 1; i >= 0; i-- {
			if looks[i].open && looks[i].declines && began(i) != 0 && began(i) == began(before) {
				return looks[i].at
			}
			if looks[i].open {
				break
			}
		}
		return 0
	}
	c.Since = began(last)
	// The claim is open if the timeout passed in a look since which the queue always waited for something below its share, and the claim was not declined.
	for i := last; i >= 0 && looks[i].waits; i-- {
		if since := began(i); since != 0 && looks[i].timeout && looks[i].at >= max(since, declined(i))+60*second {
			c.Claimed = since // of the earliest such look
		}
		if looks[i].settled >= 40 || !looks[i].timeout || i > 0 && looks[i-1].open && looks[i-1].declines {
			break
		}
	}
	if c.Since != 0 && c.Claimed == 0 {
		c.Declined = declined(last)
	}
	return c
}

func TestClocksEqualTheirTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var looks []clockLook
		var c preemption.Clock
		now := second
		for range rapid.IntRange(1, 12).Draw(t, "looks") {
			now += rapid.Int64Range(1, 40).Draw(t, "passed") * second
			is := clockLook{
				at: now, settled: rapid.SampledFrom([]int64{0, 19, 20, 39, 40, 50}).Draw(t, "settled"), tried: rapid.SampledFrom([]int64{0, 1, 25}).Draw(t, "tried"),
				waits: rapid.IntRange(0, 9).Draw(t, "waits") > 0, timeout: rapid.IntRange(0, 9).Draw(t, "timeout") > 0,
				declines: rapid.IntRange(0, 3).Draw(t, "declines") == 0,
			}
			looks = append(looks, is)
			in := preemption.ClockInput{
				Total: amounts(100, 0), Waiting: is.waits, Usage: amounts(is.settled+is.tried, 0), Settled: amounts(is.settled, 0),
				Bound: amounts(20, 0), Target: amounts(40, 0),
			}
			if is.timeout {
				in.Timeout = timeout(60)
			}
			c, _ = c.Next(in, now).Tick(in.Timeout, now)
			want := clockTwin(looks)
			if c != want {
				t.Fatalf("after %+v the clock is %+v, want %+v", looks, c, want)
			}
			if looks[len(looks)-1].open = want.Claimed != 0; looks[len(looks)-1].open && is.declines {
				c = c.Decline(now)
			}
		}
	})
}

func TestPausesGrowUntilAClaimantFits(t *testing.T) {
	var p preemption.Pause
	for i, want := range []int64{2, 4, 8, 16, 32, 64, 128, 256, 300, 300} {
		p = p.Failed(1000 * second)
		if want := (preemption.Pause{Failures: i + 1, Until: (1000 + want) * second}); p != want {
			t.Fatalf("got %+v, want %+v", p, want)
		}
	}
	p = p.Fitted()
	if want := (preemption.Pause{Until: 1300 * second}); p != want {
		t.Errorf("a pause that runs becomes %+v, want %+v", p, want)
	}
	if p = p.Failed(2000 * second); p.Until != 2002*second {
		t.Errorf("after one that fitted the pause is until %d", p.Until)
	}
}

func TestThePaceOfRounds(t *testing.T) {
	const interval = 3 * second
	for name, c := range map[string]struct {
		pace    preemption.Pace
		paused  int64
		changed bool
		now     int64
		due     bool
		next    int64
	}{
		"the first":                         {preemption.Pace{}, 0, true, 100, true, 101},
		"nothing has changed":               {preemption.Pace{LastRound: 100}, 0, false, 110, false, 130},
		"something has":                     {preemption.Pace{LastRound: 100}, 0, true, 102, false, 103},
		"something has, after the interval": {preemption.Pace{LastRound: 100}, 0, true, 103, true, 104},
		"the last left a rest":              {preemption.Pace{LastRound: 100, Rest: true}, 0, false, 103, true, 104},
		"now and then":                      {preemption.Pace{LastRound: 100}, 0, false, 130, true, 131},
		"the queue pauses":                  {preemption.Pace{LastRound: 100}, 120, true, 110, false, 120},
		"longer than any round takes":       {preemption.Pace{LastRound: 100}, 200, true, 110, false, 130},
		"one in vain":                       {preemption.Pace{LastRound: 100, Vain: 1}, 0, true, 103, false, 106},
		"two in vain":                       {preemption.Pace{LastRound: 100, Vain: 2}, 0, true, 103, false, 112},
		"many in vain":                      {preemption.Pace{LastRound: 100, Vain: 99}, 0, true, 103, false, 130},
	} {
		p := c.pace
		p.LastRound *= second
		due, next := p.Next(p.Interval(interval), c.paused*second, c.changed, c.now*second)
		if next%second == 1 { // at once, but not now
			next += second - 1
		}
		if due != c.due || next != c.next*second {
			t.Errorf("%s: due is %v, next %d; want %v, %d", name, due, next/second, c.due, c.next)
		}
	}
	if got := (preemption.Pace{Vain: 3}).Interval(60 * second); got != 60*second {
		t.Errorf("an interval longer than the longest becomes %d", got)
	}
	p := preemption.Pace{}.Made(false, false, true).Made(false, true, false)
	if p.Vain != 2 || !p.Rest || p.Waits {
		t.Errorf("after two in vain: %+v", p)
	}
	if p = p.Made(true, false, true); p.Vain != 0 || !p.Rest || p.Waits {
		t.Errorf("after one that nominated: %+v", p)
	}
	// It found all that it may take announced and still running: what is left is not for a plan to decide, and so no rest of its own.
	if p = (preemption.Pace{Vain: 2}).Made(false, true, true); p != (preemption.Pace{Waits: true}) {
		t.Errorf("after one that waits for its victims: %+v", p)
	}
	if p = p.Made(false, true, false); p != (preemption.Pace{Vain: 1, Rest: true}) {
		t.Errorf("after one in vain, when these are gone: %+v", p)
	}
}

func TestThePaceOfRoundsThatAttemptsAskFor(t *testing.T) {
	for name, c := range map[string]struct {
		pace         preemption.Pace
		stated, want int64
	}{
		"long after the last round":              {preemption.Pace{}, 3600, 1},
		"the shortest interval":                  {preemption.Pace{}, 1, 1},
		"the last nominated nobody":              {preemption.Pace{Vain: 1}, 3, 6},
		"the last nominated nobody, long":        {preemption.Pace{Vain: 1}, 3600, 3600},
		"the last left something to the next":    {preemption.Pace{Rest: true}, 3600, 3600},
		"the last left something, nobody gained": {preemption.Pace{Vain: 2, Rest: true}, 3, 12},
	} {
		if got := c.pace.IntervalOnRequest(c.stated * second); got != c.want*second {
			t.Errorf("%s: %d, want %d", name, got/second, c.want)
		}
	}
}

// However many attempts fail, rounds are a second apart, and those in vain no more than one above what they would be without these
// attempts.
func TestAStormOfAttemptsIsNoStormOfRounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stated := rapid.Int64Range(1, 100).Draw(t, "interval") * second
		useful := rapid.IntRange(0, 5).Draw(t, "rounds that nominate")
		var p preemption.Pace
		var made []int64
		for now := second; now <= 200*second; now += second / 10 { // an attempt fails at every look
			if due, next := p.Next(p.IntervalOnRequest(stated), 0, true, now); !due {
				if next <= now {
					t.Fatalf("at %d the next look is at %d", now, next)
				}
				continue
			}
			made = append(made, now)
			p.LastRound = now
			p = p.Made(len(made) <= useful, false, false)
		}
		for i := 1; i < len(made); i++ {
			least := second
			if vain := i - useful; vain > 0 {
				least = (preemption.Pace{Vain: vain}).Interval(stated)
			}
			if gap := made[i] - made[i-1]; gap < least {
				t.Fatalf("round %d is made %d after the one before, with %d that nominate", i+1, gap, useful)
			}
		}
	})
}
