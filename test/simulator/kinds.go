package simulator

import "github.com/fairway-scheduler/fairway/pkg/core/application"

// Kind is a kind of application, as it stands in the names of applications, and the roles that its pods have.
type Kind struct {
	Name  string
	Roles []application.Role
}

// Kinds are those that Fairway recognises, and some that it names after the owner of a pod. A test beside the recognition keeps them complete: they
// are the kinds and roles of the pods that operators write, pkg/kube/convert/testdata/applications.
var Kinds = []Kind{
	{"app", []application.Role{application.None, application.Driver, application.Executor}},
	{"sparkapplication", []application.Role{application.Driver, application.Executor}},
	{"sparkconnect", []application.Role{application.Driver, application.Executor}},
	{"apache-sparkapplication", []application.Role{application.Driver, application.Executor}},
	{"apache-sparkcluster", []application.Role{application.Driver, application.Executor}},
	{"spark", []application.Role{application.Driver, application.Executor}},
	{"ray", []application.Role{application.None, application.Driver, application.Executor}}, // None: the pod that submits a RayJob
	{"flink", []application.Role{application.Driver, application.Executor}},
	{"training", []application.Role{application.Driver, application.Executor}},
	{"yunikorn", []application.Role{application.None}},
	{"podgroup", []application.Role{application.None}},
	{"jobset", []application.Role{application.None, application.Driver, application.Executor}}, // None: it names no coordinator
	{"job", []application.Role{application.None, application.Driver}},                          // Driver: by our label
	{"deployment.apps", []application.Role{application.None}},
	{"replicaset.apps", []application.Role{application.None}},
	{"statefulset.apps", []application.Role{application.None}},
	{"daemonset.apps", []application.Role{application.None}},
	{"replicationcontroller.core", []application.Role{application.None}},
	{"workflow.argoproj.io", []application.Role{application.None}},
	{"pod", []application.Role{application.None}},
}
