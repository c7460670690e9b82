package people

import "context"

// PoliciesSettle returns when admission policies that were written before are in force.
func (w *World) PoliciesSettle(ctx context.Context) error { return w.Cluster.PoliciesSettle(ctx) }
