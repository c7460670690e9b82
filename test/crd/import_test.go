package crd

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/cli"
	"github.com/fairway-scheduler/fairway/pkg/tty"
)

// What the import of YARN's files prints is applied as it is, and applied again it changes nothing. A list of root closes the tree that the
// installed binding opens.
func TestImportIsApplied(t *testing.T) {
	ctx := needCluster(t)
	folder := filepath.Join(root, "test", "yarn", "testdata")
	for _, name := range []string{"bank/fair-scheduler.xml", "telecom/capacity-scheduler.xml", "labs/capacity-scheduler.xml"} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(folder, name)
			args := []string{"import", file}
			if site := filepath.Join(filepath.Dir(file), "yarn-site.xml"); exists(site) {
				args = append(args, "--yarn-site", site)
			}
			var out, report bytes.Buffer
			if code := cli.Run(ctx, args, cli.Environment{Out: tty.Screen{Out: &out}, Err: &report, Now: time.Now}); code != 0 {
				t.Fatal(report.String())
			}
			objects := filepath.Join(t.TempDir(), "objects.yaml")
			if err := os.WriteFile(objects, out.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				everyone := filepath.Join(root, "manifests", "access", "everyone.yaml")
				if out, err := kubectl(context.Background(), "delete", "--ignore-not-found", "-f", objects, "-f", everyone); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			})
			if out, err := kubectl(ctx, "apply", "-f", filepath.Join(root, "manifests", "access", "everyone.yaml")); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for range 2 {
				applied, err := kubectl(ctx, "apply", "--validate=strict", "-f", objects)
				if err != nil {
					t.Fatalf("%v\n%s", err, applied)
				}
				report.Reset()
				report.WriteString(applied)
			}
			for line := range strings.Lines(report.String()) {
				// An empty list is not stored, so kubectl sends it each time.
				if !strings.HasSuffix(line, " unchanged\n") && !strings.HasSuffix(line, "/fairway-everyone-submits configured\n") {
					t.Errorf("applied again: %s", line)
				}
			}
			closed := strings.Contains(out.String(), "fairway-everyone-submits")
			subjects, err := kubectl(ctx, "get", "clusterrolebinding", "fairway-everyone-submits", "-o", "jsonpath={.subjects}")
			if err != nil || (subjects == "") != closed {
				t.Errorf("everybody may submit: %q, %v; the tree is closed: %t", subjects, err, closed)
			}
		})
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
