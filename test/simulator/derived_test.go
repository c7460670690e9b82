package simulator

import "testing"

// What audits keep is what they would work out again.
func TestAuditsKeepNothingThatIsOutOfDate(t *testing.T) {
	seeds(t, 10, func(seed uint64, o Options) error {
		for _, o := range []Options{o, gangOptions(seed)} {
			o.Every, o.Recount = 5, true
			w := New(seed, o)
			if err := w.Run(150); err != nil {
				return err
			}
			if err := w.Close(20000); err != nil {
				return err
			}
		}
		return nil
	})
}
