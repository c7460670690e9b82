package convert

import (
	"math"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func TestForHowLongAPodSaysThatItRuns(t *testing.T) {
	const s = int64(time.Second)
	for _, c := range []struct {
		expects  string
		deadline int64 // 0: none
		want     int64
	}{
		{"", 0, 0}, {"90s", 0, 90 * s}, {"2h30m", 0, 9000 * s}, {"", 60, 60 * s}, {"90s", 60, 60 * s}, {"30s", 60, 30 * s}, {"soon", 60, 60 * s},
		{"soon", 0, 0}, {"-5s", 0, 0}, {"60", 0, 0}, {"", math.MaxInt64, math.MaxInt64},
	} {
		pod := &corev1.Pod{}
		if c.expects != "" {
			pod.Annotations = map[string]string{"fairway.dev/expected-duration": c.expects}
		}
		if c.deadline > 0 {
			pod.Spec.ActiveDeadlineSeconds = &c.deadline
		}
		if got := Lasts(pod); got != c.want {
			t.Errorf("%q, deadline %d: %d, want %d", c.expects, c.deadline, got, c.want)
		}
	}
}
