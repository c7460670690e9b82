package main

import (
	"errors"
	"flag"
	"io"
	"slices"
	"strings"
	"testing"
)

func TestDefaultsAreTheWholeComparison(t *testing.T) {
	s, err := parseSettings(nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if s.Nodes != 1000 || s.Pods != 10000 || s.Rounds < 2 {
		t.Errorf("%d nodes, %d pods, %d rounds", s.Nodes, s.Pods, s.Rounds)
	}
	want := []contestant{
		{name: "bind-only", kind: bindOnlyName, queues: 1},
		{name: "stock", kind: stockName, queues: 1},
		{name: "stock-5", kind: stockName, percentage: 5, queues: 1},
		{name: "fairway-1", kind: fairwayName, queues: 1},
		{name: "fairway-100", kind: fairwayName, queues: 100},
	}
	if !slices.Equal(s.contestants, want) {
		t.Errorf("contestants %+v", s.contestants)
	}
	if !slices.Equal(s.Modes, []string{backlog, streaming}) {
		t.Errorf("modes %v", s.Modes)
	}
}

func TestSettingsThatMakeNoSenseAreRefused(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-nodes 10 -pods 1101", "do not fit"},
		{"-rounds 0", "1 or more"},
		{"-nodes -1", "1 or more"},
		{"-creators 0", "1 or more"},
		{"-contestants stock,fairway", `"fairway"`},
		{"-contestants fairway-0", `"fairway-0"`},
		{"-contestants fairway-01", `"fairway-01"`},
		{"-contestants fairway-1001", `"fairway-1001"`},
		{"-contestants stock-101", `"stock-101"`},
		{"-contestants bind-only-5", `"bind-only-5"`},
		{"-contestants stock,stock", "twice"},
		{"-modes bursts", `"bursts"`},
		{"-modes backlog,backlog", "twice"},
		{"-modes streaming extra", `"extra"`},
	} {
		_, err := parseSettings(strings.Fields(c.args), io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want something about %s", c.args, err, c.want)
		}
	}
	if _, err := parseSettings([]string{"-h"}, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h: %v", err)
	}
}

func TestEveryContestantMeetsEveryTurn(t *testing.T) {
	s, err := parseSettings(strings.Fields("-rounds 3 -contestants bind-only,stock,fairway-7 -modes streaming,backlog"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, turn := range order(s) {
		names = append(names, turn.mode[:1]+"/"+turn.contestant.name)
	}
	want := strings.Fields(`s/bind-only s/stock s/fairway-7 b/bind-only b/stock b/fairway-7
		s/fairway-7 s/stock s/bind-only b/fairway-7 b/stock b/bind-only
		s/bind-only s/stock s/fairway-7 b/bind-only b/stock b/fairway-7`)
	if !slices.Equal(names, want) {
		t.Errorf("got  %v\nwant %v", names, want)
	}
}

func TestPodsGoToQueuesInTurn(t *testing.T) {
	c := contestant{queues: 3}
	var names []string
	for i := range 5 {
		names = append(names, c.queueName(i))
	}
	if want := strings.Fields("root.q-00 root.q-01 root.q-02 root.q-00 root.q-01"); !slices.Equal(names, want) {
		t.Errorf("got %v", names)
	}
}

func TestStockDiffersFromUpstreamInLimitsOnly(t *testing.T) {
	plain := contestant{kind: stockName}.stockConfiguration("some/file")
	if strings.Contains(plain, "percentage") || !strings.Contains(plain, `{kubeconfig: "some/file", qps: 1000, burst: 2000}`) {
		t.Error(plain)
	}
	if five := (contestant{kind: stockName, percentage: 5}).stockConfiguration("some/file"); five != plain+"percentageOfNodesToScore: 5\n" {
		t.Error(five)
	}
}
