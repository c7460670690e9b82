package queuedeletion

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

func TestDecide(t *testing.T) {
	for name, c := range map[string]struct {
		queue Object
		left  *ledger.Leaving
		want  Action
	}{
		"a new queue":                             {Object{}, nil, Put},
		"a queue as it should be":                 {Object{Held: true}, nil, Leave},
		"deleted, and the ledger has not heard":   {Object{Held: true, Deleting: true}, nil, Leave},
		"deleted, with pods":                      {Object{Held: true, Deleting: true}, &ledger.Leaving{Pods: 1}, Leave},
		"deleted, with a child":                   {Object{Held: true, Deleting: true}, &ledger.Leaving{Children: 1}, Leave},
		"deleted, with both":                      {Object{Held: true, Deleting: true}, &ledger.Leaving{Pods: 3, Children: 2}, Leave},
		"deleted and empty":                       {Object{Held: true, Deleting: true}, &ledger.Leaving{}, Take},
		"deleted before it had the finalizer":     {Object{Deleting: true}, &ledger.Leaving{Pods: 1}, Leave},
		"deleted and empty, kept by somebody":     {Object{Deleting: true}, &ledger.Leaving{}, Leave},
		"made anew, the ledger is at the old one": {Object{}, &ledger.Leaving{Pods: 1}, Put},
	} {
		if got := Decide(c.queue, c.left); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}
