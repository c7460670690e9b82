package e2e

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestBindsWhoseAnswerIsLost lets the scheduler lose its connection when its binds are done and it has not heard of that yet, as when one
// of several apiservers ends. What it does not know for certain it must not take for failed: the queue's max holds at every moment.
func TestBindsWhoseAnswerIsLost(t *testing.T) {
	w := newWorld(t)
	f := w.frontFor("a")
	f.keepAnswers()
	const fit = adhocCPU / 500
	for i := range 3 * fit {
		p := newPod(fmt.Sprintf("pod-%02d", i), "root.adhoc", amounts{500, 1 << 20})
		_, err := w.kube.CoreV1().Pods(p.Namespace).Create(w.ctx, p, metav1.CreateOptions{})
		w.must(err)
	}
	w.replica("a", f.kubeconfig, f)
	w.untilBound(fit)
	w.until("no bind is answered", func() (bool, string) { n := f.kept.Load(); return n == fit, fmt.Sprint(n) })
	f.die()
	w.say("%d binds are done and not answered", fit)
	w.auditBooks()
	w.say("the books are right, with %d pods bound", w.history.bound())
	w.goodbye()
}
