package crd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReservations(t *testing.T) {
	ctx := needCluster(t)
	good := map[string]string{
		"queue": "root.reports", "arrival": `"2030-01-01T02:00:00Z"`, "deadline": `"2030-01-01T06:00:00Z"`,
		"requests": "[{pods: 4, resources: {cpu: 2, memory: 500Mi}, duration: 1h30m, concurrency: 2}]",
	}
	for name, tc := range map[string]struct{ field, value, want string }{
		"as it is":                 {"queue", "root.reports", ""},
		"daily":                    {"recurrence", "24h", ""},
		"in order":                 {"interpreter", "OrderNoGap", ""},
		"no requests":              {"requests", "[]", "spec.requests: Invalid value: 0: spec.requests in body should have at least 1 items"},
		"half a gang":              {"requests", "[{pods: 3, resources: {cpu: 1}, duration: 1h, concurrency: 2}]", "must be a multiple of concurrency"},
		"nothing":                  {"requests", "[{pods: 3, resources: {cpu: 0}, duration: 1h}]", "an amount must be above 0"},
		"less than nothing":        {"requests", `[{pods: 3, resources: {cpu: "-1"}, duration: 1h}]`, "cpu: an amount must be a quantity of at least 0, such as 500m, 8 or 64Gi"},
		"no quantity":              {"requests", "[{pods: 3, resources: {cpu: many}, duration: 1h}]", "cpu: an amount must be a quantity of at least 0, such as 500m, 8 or 64Gi"},
		"pods":                     {"requests", "[{pods: 3, resources: {pods: 3}, duration: 1h}]", "pods: their number is a limit of each node and is not reserved"},
		"no time":                  {"requests", "[{pods: 3, resources: {cpu: 1}, duration: 0s}]", "must be a duration from 1s to 2160h in hours, minutes and seconds"},
		"the deadline is too soon": {"deadline", `"2030-01-01T02:00:00Z"`, "spec.deadline: Invalid value: "},
		"every five hours":         {"recurrence", "5h", "spec.recurrence: Invalid value: \"5h\": must be a duration from 15m to 168h that divides a week"},
		"every minute":             {"recurrence", "1m", "must be a duration from 15m to 168h that divides a week"},
		"periods overlap":          {"recurrence", "3h", "must be at least the time from arrival to deadline, else periods overlap"},
		"a whole week":             {"recurrence", "168h", ""},
		"no queue":                 {"queue", `""`, "spec.queue: Invalid value: \"\": spec.queue in body should be at least 1 chars long"},
		"no pods":                  {"requests", "[{pods: 0, resources: {cpu: 1}, duration: 1h}]", "spec.requests[0].pods in body should be greater than or equal to 1"},
		"too many pods":            {"requests", "[{pods: 1000001, resources: {cpu: 1}, duration: 1h}]", "spec.requests[0].pods in body should be less than or equal to 1000000"},
		"no gangs":                 {"requests", "[{pods: 1, resources: {cpu: 1}, duration: 1h, concurrency: 0}]", "spec.requests[0].concurrency in body should be greater than or equal to 1"},
		"no resources":             {"requests", "[{pods: 1, resources: {}, duration: 1h}]", "spec.requests[0].resources in body should have at least 1 properties"},
		"too long":                 {"requests", "[{pods: 1, resources: {cpu: 1}, duration: 2161h}]", "must be a duration from 1s to 2160h in hours, minutes and seconds"},
		"33 requests":              {"requests", "[" + strings.Repeat("{pods: 1, resources: {cpu: 1}, duration: 1h}, ", 33) + "]", "spec.requests: Too many: 33: must have at most 32 items"},
		"two weeks":                {"recurrence", "336h", "must be a duration from 15m to 168h that divides a week"},
		"no words":                 {"recurrence", "daily", "must be a duration from 15m to 168h that divides a week"},
		"no time at all":           {"arrival", `"now"`, "Invalid value: \"now\": spec.arrival in body must be of type date-time"},
		"another interpreter":      {"interpreter", "Some", `Unsupported value: "Some": supported values: "All", "Any", "Order", "OrderNoGap"`},
	} {
		t.Run(name, func(t *testing.T) {
			text := "apiVersion: scheduling.fairway.dev/v1alpha1\nkind: Reservation\nmetadata: {name: r, namespace: default}\nspec:\n"
			fields := map[string]string{}
			for _, field := range []string{"queue", "arrival", "deadline", "requests", "interpreter", "recurrence"} {
				fields[field] = good[field]
				if field == tc.field {
					fields[field] = tc.value
				}
				if fields[field] != "" {
					text += "  " + field + ": " + fields[field] + "\n"
				}
			}
			file := filepath.Join(t.TempDir(), "reservation.yaml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := kubectl(ctx, "create", "--dry-run=server", "--validate=false", "-f", file)
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("refused: %s", out)
			case tc.want != "" && (err == nil || !strings.Contains(out, tc.want)):
				t.Errorf("got %s\nwant %s", out, tc.want)
			}
		})
	}
}
