package arch

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// Registry hosts. They are put together here so that this file does not break
// its own law. Images and modules are named without a host: a mirror or an
// air-gapped site then needs a setting, not a patch.
var registryHosts = []string{
	"gcr" + ".io", "docker" + ".io", "quay" + ".io", "ghcr" + ".io", "registry" + ".k8s.io", "proxy" + ".golang.org", "npm" + "js",
}

var (
	hostPattern = regexp.MustCompile(`(?i)(` + strings.Join(escaped(registryHosts), "|") + `)`)
	// An absolute path into somebody's machine, not a path that ends alike.
	machinePattern = regexp.MustCompile(`(^|[^\w.\-/})*])(/(wo` + `rk|ro` + `ot|ho` + `me|Us` + `ers)/\S*)`)
	// context.TODO is a function.
	laterPattern = regexp.MustCompile(`(^|[^\w.])(TO` + `DO|FIX` + `ME|XX` + `X)\b`)
)

func textLaws() []law {
	return []law{
		{name: "no registry host", check: func(tr *tree) []string {
			return grep(tr, hostPattern, 1, "names a registry host: name images and modules without one")
		}, samples: hostSamples},
		{name: "no path of one machine", check: func(tr *tree) []string {
			return grep(tr, machinePattern, 2, "names a path of one machine: paths are relative to the repository or chosen by the user")
		}, samples: machineSamples},
		{name: "nothing is left for later", check: func(tr *tree) []string {
			return grep(tr, laterPattern, 2, "promises later work: do it, or open an issue")
		}, samples: laterSamples},
	}
}

func escaped(names []string) []string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = regexp.QuoteMeta(name)
	}
	return quoted
}

// grep reports each line with a match; go.sum was left out when the tree was
// read.
func grep(tr *tree, pattern *regexp.Regexp, group int, why string) []string {
	var violations []string
	for _, text := range tr.texts {
		for i, line := range bytes.Split(text.data, []byte("\n")) {
			if match := pattern.FindSubmatch(line); match != nil {
				violations = append(violations, fmt.Sprintf("%s:%d: %s: %q", text.path, i+1, why, match[group]))
			}
		}
	}
	return violations
}

var hostSamples = []sample{
	{
		about: "an image",
		files: map[string]string{"manifests/a.yaml": "kind: Pod\nimage: " + registryHosts[0] + "/pause\n"},
		want:  "manifests/a.yaml:2: names a registry host",
	},
	{
		about: "a hidden file",
		files: map[string]string{".ci/run": "curl https://" + registryHosts[5] + "\n"},
		want:  ".ci/run:1",
	},
	{
		about: "an image without a host",
		files: map[string]string{"manifests/a.yaml": "image: fairway-scheduler\n"},
	},
}

var machineSamples = []sample{
	{
		about: "a home directory",
		files: map[string]string{"hack/a.sh": "cache=/ro" + "ot/.cache\n"},
		want:  "hack/a.sh:1: names a path of one machine",
	},
	{
		about: "somebody's checkout",
		files: map[string]string{"docs/a.md": "Run `/ho" + "me/me/fairway/bin/x`.\n"},
		want:  "docs/a.md:1",
	},
	{
		about: "paths that end alike",
		files: map[string]string{"docs/a.md": "See docs/wo" + "rk/a.md, https://example.com/ho" + "me/x and $(DIR)/ro" + "ot/x.\n"},
	},
}

var laterSamples = []sample{
	{
		about: "a promise",
		files: map[string]string{"pkg/ledger/a.go": "package ledger\n\n// TO" + "DO(me): think.\n"},
		want:  "pkg/ledger/a.go:3: promises later work",
	},
	{
		about: "a function of that name",
		files: map[string]string{"pkg/plugin/a.go": "package plugin\n\nvar ctx = context.TO" + "DO()\n"},
	},
}
