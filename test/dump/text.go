package dump

const rootText = `
apiVersion: scheduling.fairway.dev/v1alpha1
kind: Queue
metadata:
  name: root
  uid: 5d0f6f0e-0000-4000-8000-000000000000
  creationTimestamp: "2026-03-01T08:00:00Z"
  generation: 1
  resourceVersion: "100"
spec: {}
`

const parentText = `
apiVersion: scheduling.fairway.dev/v1alpha1
kind: Queue
metadata:
  name: $PARENT
  uid: 5d0f6f0e-0001-4000-8000-$PARENT
  creationTimestamp: "2026-03-01T08:00:01Z"
  generation: 1
  resourceVersion: "101"
spec:
  weight: "2"
`

const queueText = `
apiVersion: scheduling.fairway.dev/v1alpha1
kind: Queue
metadata:
  name: $PARENT.queue-$NUMBER
  uid: 5d0f6f0e-0002-4000-8000-$NUMBER
  creationTimestamp: "2026-03-01T08:00:02Z"
  generation: 3
  resourceVersion: "@NUMBER"
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: |
      {"apiVersion":"scheduling.fairway.dev/v1alpha1","kind":"Queue","metadata":{"annotations":{},"name":"$PARENT.queue-$NUMBER"},"spec":{"guaranteed":{"cpu":"1"},"max":{"cpu":"$CPU"},"weight":"$WEIGHT"}}
  managedFields:
  - apiVersion: scheduling.fairway.dev/v1alpha1
    fieldsType: FieldsV1
    fieldsV1: {"f:metadata": {"f:annotations": {".": {}, "f:kubectl.kubernetes.io/last-applied-configuration": {}}}, "f:spec": {".": {}, "f:guaranteed": {".": {}, "f:cpu": {}}, "f:max": {".": {}, "f:cpu": {}}, "f:weight": {}}}
    manager: kubectl-client-side-apply
    operation: Update
    time: "2026-03-01T08:00:02Z"
  - apiVersion: scheduling.fairway.dev/v1alpha1
    fieldsType: FieldsV1
    fieldsV1: {"f:status": {".": {}, "f:conditions": {".": {}, "k:{\"type\":\"Ready\"}": {".": {}, "f:lastTransitionTime": {}, "f:message": {}, "f:observedGeneration": {}, "f:reason": {}, "f:status": {}, "f:type": {}}}, "f:observedGeneration": {}}}
    manager: fairway-scheduler
    operation: Update
    subresource: status
    time: "2026-03-01T08:00:03Z"
spec:
  weight: "@WEIGHT"
  guaranteed:
    cpu: "1"
  max:
    cpu: "@CPU"
    memory: 400Gi
status:
  observedGeneration: 3
  allocated:
    cpu: "2"
    memory: 8Gi
  demand:
    cpu: "3"
    memory: 12Gi
  conditions:
  - type: Ready
    status: "True"
    reason: InForce
    message: The queue is in force.
    observedGeneration: 3
    lastTransitionTime: "2026-03-01T08:00:03Z"
`

const nodeText = `
apiVersion: v1
kind: Node
metadata:
  name: node-$NUMBER
  uid: 5d0f6f0e-0003-4000-8000-$NUMBER
  creationTimestamp: "2026-03-01T07:00:00Z"
  resourceVersion: "@NUMBER"
  labels:
    beta.kubernetes.io/arch: amd64
    beta.kubernetes.io/os: linux
    kubernetes.io/arch: amd64
    kubernetes.io/hostname: node-$NUMBER
    kubernetes.io/os: linux
    node.kubernetes.io/instance-type: large
    topology.kubernetes.io/region: here
    topology.kubernetes.io/zone: here-$ZONE
  managedFields:
  - apiVersion: v1
    fieldsType: FieldsV1
    fieldsV1: {"f:status": {"f:allocatable": {"f:cpu": {}, "f:memory": {}, "f:pods": {}}, "f:capacity": {"f:cpu": {}}, "f:conditions": {"k:{\"type\":\"Ready\"}": {"f:lastHeartbeatTime": {}}}}}
    manager: kubelet
    operation: Update
    subresource: status
    time: "2026-03-02T10:01:00Z"
spec:
  podCIDR: 10.0.0.0/24
  providerID: example:///node-$NUMBER
status:
  addresses:
  - {address: 10.1.0.1, type: InternalIP}
  - {address: node-$NUMBER, type: Hostname}
  allocatable: {cpu: 255500m, ephemeral-storage: "98831908", hugepages-2Mi: "0", memory: 1031000Mi, pods: "250"}
  capacity: {cpu: "256", ephemeral-storage: "101831908", hugepages-2Mi: "0", memory: 1033000Mi, pods: "250"}
  conditions:
  - {type: MemoryPressure, status: "False", reason: KubeletHasSufficientMemory, message: kubelet has sufficient memory available, lastHeartbeatTime: "2026-03-02T10:00:30Z", lastTransitionTime: "2026-03-01T07:00:00Z"}
  - {type: DiskPressure, status: "False", reason: KubeletHasNoDiskPressure, message: kubelet has no disk pressure, lastHeartbeatTime: "2026-03-02T10:00:30Z", lastTransitionTime: "2026-03-01T07:00:00Z"}
  - {type: Ready, status: "True", reason: KubeletReady, message: kubelet is posting ready status, lastHeartbeatTime: "2026-03-02T10:00:30Z", lastTransitionTime: "2026-03-01T07:00:10Z"}
  daemonEndpoints:
    kubeletEndpoint: {Port: 10250}
  nodeInfo: {architecture: amd64, bootID: 1b0e, containerRuntimeVersion: containerd://2.1.0, kernelVersion: 6.8.0, kubeProxyVersion: "", kubeletVersion: v1.36.4, machineID: 2c1f, operatingSystem: linux, osImage: Linux, systemUUID: 3d2a}
`

const podText = `
apiVersion: v1
kind: Pod
metadata:
  name: wordcount-$APPLICATION-exec-$NUMBER
  namespace: team-$QUEUE
  uid: 5d0f6f0e-0004-4000-8000-$NUMBER
  creationTimestamp: "2026-03-02T09:$MINUTE:00Z"
  generation: 1
  resourceVersion: "@NUMBER"
  labels:
    app.kubernetes.io/name: wordcount
    fairway.dev/queue: $PARENT.queue-$QUEUE
    spark-app-name: wordcount
    spark-app-selector: spark-$APPLICATION
    spark-exec-id: "@NUMBER"
    spark-exec-resourceprofile-id: "0"
    spark-role: executor
    spark-version: 4.0.0
  annotations:
    fairway.dev/user: alice
  ownerReferences:
  - {apiVersion: v1, controller: true, kind: Pod, name: wordcount-$APPLICATION-driver, uid: 5d0f6f0e-0005-4000-8000-$APPLICATION}
  managedFields:
  - apiVersion: v1
    fieldsType: FieldsV1
    fieldsV1: {"f:metadata": {"f:annotations": {".": {}, "f:fairway.dev/user": {}}, "f:labels": {".": {}, "f:app.kubernetes.io/name": {}, "f:fairway.dev/queue": {}, "f:spark-app-name": {}, "f:spark-app-selector": {}, "f:spark-exec-id": {}, "f:spark-role": {}}, "f:ownerReferences": {".": {}, "k:{\"uid\":\"5d0f6f0e-0005-4000-8000-$APPLICATION\"}": {}}}, "f:spec": {"f:containers": {"k:{\"name\":\"spark-kubernetes-executor\"}": {".": {}, "f:args": {}, "f:env": {".": {}, "k:{\"name\":\"SPARK_EXECUTOR_CORES\"}": {".": {}, "f:name": {}, "f:value": {}}, "k:{\"name\":\"SPARK_EXECUTOR_ID\"}": {".": {}, "f:name": {}, "f:value": {}}}, "f:image": {}, "f:imagePullPolicy": {}, "f:name": {}, "f:ports": {".": {}, "k:{\"containerPort\":7079,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}, "f:name": {}, "f:protocol": {}}}, "f:resources": {".": {}, "f:limits": {".": {}, "f:memory": {}}, "f:requests": {".": {}, "f:cpu": {}, "f:memory": {}}}, "f:terminationMessagePath": {}, "f:terminationMessagePolicy": {}}}, "f:dnsPolicy": {}, "f:enableServiceLinks": {}, "f:restartPolicy": {}, "f:schedulerName": {}, "f:securityContext": {}, "f:terminationGracePeriodSeconds": {}}}
    manager: okhttp
    operation: Update
    time: "2026-03-02T09:$MINUTE:00Z"
spec:
  containers:
  - args: [executor]
    env:
    - {name: SPARK_USER, value: alice}
    - {name: SPARK_DRIVER_URL, value: "spark://CoarseGrainedScheduler@wordcount-$APPLICATION-driver-svc.team-$QUEUE.svc:7078"}
    - {name: SPARK_EXECUTOR_CORES, value: "@CPU"}
    - {name: SPARK_EXECUTOR_MEMORY, value: 4g}
    - {name: SPARK_APPLICATION_ID, value: spark-$APPLICATION}
    - {name: SPARK_EXECUTOR_ID, value: "@NUMBER"}
    - {name: SPARK_EXECUTOR_POD_IP, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: status.podIP}}}
    image: example.com/spark:4.0.0
    imagePullPolicy: IfNotPresent
    name: spark-kubernetes-executor
    ports:
    - {containerPort: 7079, name: blockmanager, protocol: TCP}
    resources:
      limits: {memory: 4505Mi}
      requests: {cpu: "@CPU", memory: 4505Mi}
    terminationMessagePath: /dev/termination-log
    terminationMessagePolicy: File
    volumeMounts:
    - {mountPath: /var/data/spark, name: spark-local-dir-1}
    - {mountPath: /var/run/secrets/kubernetes.io/serviceaccount, name: kube-api-access-$NUMBER, readOnly: true}
  dnsPolicy: ClusterFirst
  enableServiceLinks: true
  preemptionPolicy: PreemptLowerPriority
  priority: 0
  restartPolicy: Never
  schedulerName: fairway
  securityContext: {fsGroup: 185, runAsUser: 185}
  serviceAccount: spark
  serviceAccountName: spark
  terminationGracePeriodSeconds: 30
  tolerations:
  - {effect: NoExecute, key: node.kubernetes.io/not-ready, operator: Exists, tolerationSeconds: 300}
  - {effect: NoExecute, key: node.kubernetes.io/unreachable, operator: Exists, tolerationSeconds: 300}
  volumes:
  - {emptyDir: {}, name: spark-local-dir-1}
  - name: kube-api-access-$NUMBER
    projected:
      defaultMode: 420
      sources:
      - {serviceAccountToken: {expirationSeconds: 3607, path: token}}
      - {configMap: {items: [{key: ca.crt, path: ca.crt}], name: kube-root-ca.crt}}
      - {downwardAPI: {items: [{fieldRef: {apiVersion: v1, fieldPath: metadata.namespace}, path: namespace}]}}
`

const boundText = `
  nodeName: node-$NODE
status:
  phase: Running
  hostIP: 10.1.0.1
  podIP: 10.0.0.1
  podIPs: [{ip: 10.0.0.1}]
  qosClass: Burstable
  startTime: "2026-03-02T10:00:00Z"
  conditions:
  - {type: PodReadyToStartContainers, status: "True", lastProbeTime: null, lastTransitionTime: "2026-03-02T10:00:01Z"}
  - {type: Initialized, status: "True", lastProbeTime: null, lastTransitionTime: "2026-03-02T10:00:00Z"}
  - {type: Ready, status: "True", lastProbeTime: null, lastTransitionTime: "2026-03-02T10:00:02Z"}
  - {type: ContainersReady, status: "True", lastProbeTime: null, lastTransitionTime: "2026-03-02T10:00:02Z"}
  - {type: PodScheduled, status: "True", lastProbeTime: null, lastTransitionTime: "2026-03-02T10:00:00Z"}
  containerStatuses:
  - containerID: containerd://4f6c1f8e2d3b$NUMBER
    image: example.com/spark:4.0.0
    imageID: example.com/spark@sha256:0d1e2f30
    name: spark-kubernetes-executor
    ready: true
    restartCount: 0
    started: true
    state: {running: {startedAt: "2026-03-02T10:00:02Z"}}
`

const waitingText = `
status:
  phase: Pending
  qosClass: Burstable
  conditions:
  - type: fairway.dev/Queued
    status: "True"
    reason: MaxResources
    message: "waits for queue $PARENT.queue-$QUEUE: it has 62 of max 64 cpu, and the pod asks for $CPU"
    lastProbeTime: null
    lastTransitionTime: "2026-03-02T09:$MINUTE:10Z"
`
