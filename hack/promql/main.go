// Command promql answers PromQL queries over scraped metrics, with Prometheus' own parser and engine and nothing of its server.
//
// In: a request as JSON on stdin, with scrapes in Prometheus' text format, queries, and maybe a file of rules. Out: an answer as JSON on
// stdout. A query that fails says so in its result; only a request that cannot be read ends the command with an error. It is a module of
// its own, so that the scheduler does not depend on Prometheus.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/template"
)

// Request is what the command reads. Times are in milliseconds since the epoch.
type Request struct {
	Scrapes []Scrape `json:"scrapes"`
	// Rules is the text of a file of rules: each alert is evaluated at the time At.
	Rules   string  `json:"rules,omitempty"`
	Queries []Query `json:"queries,omitempty"`
	At      int64   `json:"at"`
}

// Scrape is one page of one target at one time. As Prometheus does, the command adds the series up.
type Scrape struct {
	Time   int64             `json:"time"`
	Labels map[string]string `json:"labels"` // of the target: job, instance
	Text   string            `json:"text"`
	Down   bool              `json:"down,omitempty"` // the target did not answer
}

// Query is one expression to evaluate at the time At of the request.
type Query struct {
	Name string `json:"name"`
	Expr string `json:"expr"`
}

// Answer is what the command writes.
type Answer struct {
	Queries []Result `json:"queries"`
	Alerts  []Alert  `json:"alerts"`
	Errors  []string `json:"errors"` // of the file of rules
}

// Result is what one expression came to.
type Result struct {
	Name    string   `json:"name"`
	Expr    string   `json:"expr"`
	Error   string   `json:"error,omitempty"`
	Samples []Sample `json:"samples"`
}

// Sample is one series at one time.
type Sample struct {
	Labels map[string]string `json:"labels"`
	Value  string            `json:"value"` // text: JSON has no NaN
	// Annotations are those of an alert, with its templates filled in.
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Alert is one alert rule: the series for which it holds, and what its expression yields without any comparison with a number.
type Alert struct {
	Result
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	Bare        Result            `json:"bare"`
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "promql:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	var request Request
	decoder := json.NewDecoder(in)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&request); err != nil {
		return fmt.Errorf("reading the request: %w", err)
	}
	series, err := read(request.Scrapes)
	if err != nil {
		return err
	}
	e := evaluator{
		parser: parser.NewParser(parser.Options{}),
		series: series,
		at:     time.UnixMilli(request.At),
	}
	e.engine = promql.NewEngine(promql.EngineOpts{
		MaxSamples: 50_000_000, Timeout: time.Minute, LookbackDelta: 5 * time.Minute,
		EnableAtModifier: true, EnableNegativeOffset: true, Parser: e.parser,
	})
	answer := Answer{Queries: []Result{}, Alerts: []Alert{}, Errors: []string{}}
	for _, q := range request.Queries {
		answer.Queries = append(answer.Queries, e.result(q.Name, q.Expr))
	}
	if request.Rules != "" {
		answer.Alerts, answer.Errors = e.alerts(request.Rules)
	}
	return json.NewEncoder(out).Encode(answer)
}

type evaluator struct {
	parser parser.Parser
	engine *promql.Engine
	series series
	at     time.Time
}

func (e *evaluator) result(name, expr string) Result {
	r := Result{Name: name, Expr: expr, Samples: []Sample{}}
	vector, err := e.evaluate(expr)
	if err != nil {
		r.Error = err.Error()
	}
	for _, s := range vector {
		r.Samples = append(r.Samples, Sample{Labels: s.Metric.Map(), Value: fmt.Sprint(s.F)})
	}
	return r
}

func (e *evaluator) evaluate(expr string) (promql.Vector, error) {
	query, err := e.engine.NewInstantQuery(context.Background(), e.series, promql.NewPrometheusQueryOpts(false, 0), expr, e.at)
	if err != nil {
		return nil, err
	}
	result := query.Exec(context.Background()) // never closed: the answer is read until the command ends
	switch value := result.Value.(type) {
	case promql.Vector:
		return value, result.Err
	case promql.Scalar:
		return promql.Vector{{F: value.V}}, result.Err
	case nil:
		return nil, result.Err
	}
	return nil, fmt.Errorf("the expression is a %s, not a vector", result.Value.Type())
}

func (e *evaluator) alerts(text string) (alerts []Alert, problems []string) {
	alerts, problems = []Alert{}, []string{}
	groups, errs := rulefmt.Parse([]byte(text), false, model.UTF8Validation, e.parser, slog.Default())
	for _, err := range errs {
		problems = append(problems, err.Error())
	}
	if groups == nil {
		return alerts, problems
	}
	for _, g := range groups.Groups {
		for _, rule := range g.Rules {
			if rule.Alert != "" {
				alerts = append(alerts, e.alert(rule))
			}
		}
	}
	return alerts, problems
}

func (e *evaluator) alert(rule rulefmt.Rule) Alert {
	a := Alert{
		Result: e.result(rule.Alert, rule.Expr),
		For:    rule.For.String(), Labels: rule.Labels, Annotations: rule.Annotations,
	}
	bare, err := e.withoutThresholds(rule.Expr)
	a.Bare = e.result(rule.Alert, bare)
	if err != nil {
		a.Bare.Error = err.Error()
	}
	for i := range a.Samples {
		if err := e.expand(&a.Samples[i], rule); err != nil && a.Error == "" {
			a.Error = err.Error()
		}
	}
	return a
}

// expand fills in the templates of the annotations, as Prometheus does when it sends an alert.
func (e *evaluator) expand(s *Sample, rule rulefmt.Rule) error {
	var value float64
	if _, err := fmt.Sscan(s.Value, &value); err != nil {
		return err
	}
	data := template.AlertTemplateData(s.Labels, nil, "", promql.Sample{F: value})
	s.Annotations = map[string]string{}
	var errs []error
	for name, text := range rule.Annotations {
		const names = "{{$labels := .Labels}}{{$value := .Value}}"
		expanded, err := template.NewTemplateExpander(context.Background(), names+text, rule.Alert, data,
			model.TimeFromUnixNano(e.at.UnixNano()), e.query, nil, nil).Expand()
		s.Annotations[name] = expanded
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (e *evaluator) query(_ context.Context, expr string, _ time.Time) (promql.Vector, error) {
	return e.evaluate(expr)
}

// withoutThresholds is the expression with each comparison of a vector with a number replaced by the vector. An alert of which nothing is
// left then can never fire: a name or a label in it is wrong.
func (e *evaluator) withoutThresholds(text string) (string, error) {
	expr, err := e.parser.ParseExpr(text)
	if err != nil {
		return text, err
	}
	return bare(expr).String(), nil
}

func bare(expr parser.Expr) parser.Expr {
	switch x := expr.(type) {
	case *parser.ParenExpr:
		x.Expr = bare(x.Expr)
	case *parser.AggregateExpr:
		x.Expr = bare(x.Expr)
	case *parser.UnaryExpr:
		x.Expr = bare(x.Expr)
	case *parser.Call:
		for i := range x.Args {
			x.Args[i] = bare(x.Args[i])
		}
	case *parser.BinaryExpr:
		x.LHS, x.RHS = bare(x.LHS), bare(x.RHS)
		if x.Op.IsComparisonOperator() && x.RHS.Type() == parser.ValueTypeScalar {
			return x.LHS
		}
	}
	return expr
}
