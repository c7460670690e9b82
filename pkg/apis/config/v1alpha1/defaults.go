package v1alpha1

// What is in force where nothing is stated.
const (
	DefaultPodConditionWritesPerSecond int32 = 20
	DefaultShowUnschedulable                 = true
	DefaultUnschedulableAfterSeconds   int32 = 5
	DefaultMetricsMaxQueues            int32 = 1000
	DefaultLedgerChecksPerSecond       int32 = 5
	DefaultCheckAccess                       = false
	DefaultNodeLocalityDelay           int32 = 40
	DefaultRackLocalityDelay           int32 = -1
	DefaultRackTopologyKey                   = "topology.kubernetes.io/rack"
	DefaultLargePodPatienceSeconds     int32 = 15
)

// SetDefaults states what is not stated: afterwards no field is nil.
func SetDefaults(a *FairwayArgs) {
	setDefault(&a.PodConditionWritesPerSecond, DefaultPodConditionWritesPerSecond)
	setDefault(&a.ShowUnschedulable, DefaultShowUnschedulable)
	setDefault(&a.UnschedulableAfterSeconds, DefaultUnschedulableAfterSeconds)
	setDefault(&a.MetricsMaxQueues, DefaultMetricsMaxQueues)
	setDefault(&a.LedgerChecksPerSecond, DefaultLedgerChecksPerSecond)
	setDefault(&a.CheckAccess, DefaultCheckAccess)
	setDefault(&a.NodeLocalityDelay, DefaultNodeLocalityDelay)
	setDefault(&a.RackLocalityDelay, DefaultRackLocalityDelay)
	setDefault(&a.RackTopologyKey, DefaultRackTopologyKey)
	setDefault(&a.LargePodPatienceSeconds, DefaultLargePodPatienceSeconds)
}

func setDefault[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
