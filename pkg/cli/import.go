package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/fairway-scheduler/fairway/manifests"
	"github.com/fairway-scheduler/fairway/pkg/yarn/capacity"
	"github.com/fairway-scheduler/fairway/pkg/yarn/config"
	"github.com/fairway-scheduler/fairway/pkg/yarn/fair"
	"github.com/fairway-scheduler/fairway/pkg/yarn/plan"
)

const importLong = `Translate fair-scheduler.xml or capacity-scheduler.xml into Queues, a PlacementPolicy, and the roles and bindings that
their access lists mean. The objects go to standard output, as kubectl apply reads them.

A report goes to standard error. It has a line for each property of the files: where it stands, and whether it is

  translated       the fields that it sets, which do the same
  approximated     the fields that it sets, and what is different
  not needed       why it has no counterpart, and nothing is lost
  not translated   why it has no counterpart, and something is lost

A mistake with which YARN would not load the files is an error with file and line; then no object is printed.

With --yarn-site, what that file says about the scheduler is translated, too. Without it, YARN's defaults count. Preemption
is off by default, so it is then planned and shown, but no pod is evicted.

What is printed can be looked at before it is applied, with tree, place and access, each with -f.`

const importExample = `  # See what becomes of the file, and keep the objects
  kubectl fairway import fair-scheduler.xml --yarn-site yarn-site.xml > queues.yaml

  # Fail if something has no counterpart
  kubectl fairway import capacity-scheduler.xml --yarn-site yarn-site.xml --check > queues.yaml`

func newImport(o *options) *cobra.Command {
	var siteFile string
	var check bool
	c := &cobra.Command{
		Use: "import FILE", Short: "Translate the files of a YARN scheduler into Queues", Long: importLong, Example: importExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("name one file: fair-scheduler.xml or capacity-scheduler.xml")
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"xml"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := o.translate(args[0], siteFile)
			if err != nil {
				return err
			}
			return o.printPlan(p, check)
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&siteFile, "yarn-site", "", "the yarn-site.xml (`FILE`) of the same cluster")
	f.BoolVar(&check, "check", false, "exit with 1 if a property is not translated")
	must(c.MarkFlagFilename("yarn-site", "xml"))
	return c
}

// translate reads the files. Which scheduler a file is for shows in its top element.
func (o *options) translate(name, siteName string) (*plan.Plan, error) {
	text, err := o.readXML(name)
	if err != nil {
		return nil, err
	}
	top, err := config.Parse(name, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	var files []config.File
	if siteName != "" {
		site, err := o.readXML(siteName)
		if err != nil {
			return nil, err
		}
		files = append(files, config.File{Name: siteName, Reader: bytes.NewReader(site)})
	}
	switch top.Name {
	case "allocations":
		var site *config.Configuration
		if siteName != "" {
			if site, err = config.Read(files...); err != nil {
				return nil, err
			}
		}
		return fair.Translate(name, bytes.NewReader(text), site)
	case "configuration":
		c, err := config.Read(append(files, config.File{Name: name, Reader: bytes.NewReader(text)})...)
		if err != nil {
			return nil, err
		}
		return capacity.Translate(name, c, siteName != ""), nil
	}
	return nil, config.Error{File: name, Line: top.Line,
		Text: "the top element is " + top.Name + "; that of fair-scheduler.xml is allocations, and that of capacity-scheduler.xml configuration"}
}

func (o *options) readXML(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(o.In)
	}
	return os.ReadFile(name)
}

func (o *options) printPlan(p *plan.Plan, check bool) error {
	if mistakes := p.Errors(); len(mistakes) > 0 {
		for _, err := range mistakes {
			fmt.Fprintln(o.Err, err)
		}
		return errors.New("YARN would not load this; nothing is translated")
	}
	schema, err := plan.ParseSchema(manifests.Queues, manifests.PlacementPolicies)
	if err != nil {
		return err
	}
	p.Finish(schema)
	if err := p.Write(o.Out.Out); err != nil {
		return err
	}
	if _, err := io.WriteString(o.Err, p.Report()); err != nil {
		return err
	}
	if check && !p.Complete() {
		return errors.New("not everything is translated; see the report")
	}
	return nil
}
