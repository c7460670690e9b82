package queuedeletion

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

func TestDecide(t *testing.T) {
	for name, c := range map[string]struct {
		queue object
		left  *ledger.Leaving
		want  action
	}{
		"a new queue":                              {object{}, nil, put},
		"a queue as it should be":                  {object{Held: true}, nil, leave},
		"deleted, and the ledger has not heard":    {object{Held: true, Deleting: true}, nil, leave},
		"deleted, with pods":                       {object{Held: true, Deleting: true}, &ledger.Leaving{Pods: 1}, leave},
		"deleted, with a child":                    {object{Held: true, Deleting: true}, &ledger.Leaving{Children: 1}, leave},
		"deleted, with both":                       {object{Held: true, Deleting: true}, &ledger.Leaving{Pods: 3, Children: 2}, leave},
		"deleted and empty":                        {object{Held: true, Deleting: true}, &ledger.Leaving{}, take},
		"deleted before it had the finalizer":      {object{Deleting: true}, &ledger.Leaving{Pods: 1}, leave},
		"deleted and empty, kept by somebody":      {object{Deleting: true}, &ledger.Leaving{}, leave},
		"made again, the ledger is at the old one": {object{}, &ledger.Leaving{Pods: 1}, put},
	} {
		if got := decide(c.queue, c.left); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}
