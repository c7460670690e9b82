// Package cluster reads the objects of a live cluster into a set.
package cluster

import (
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// Flags are the kubeconfig flags of kubectl.
type Flags = genericclioptions.ConfigFlags

// NewFlags returns them with their defaults.
func NewFlags() *Flags { return genericclioptions.NewConfigFlags(true) }
