"""Shared pieces of object schemas, in the notation of `schema_notation`.

Sources: the Kubernetes API reference for core types, the fields of HyperPodPyTorchJob
(sagemaker.amazonaws.com/v1)
and Kueue's v1beta2 API. What the twin does not act on is left open (`any`) rather than copied.
"""

from __future__ import annotations

from typing import Final

from core.json_value import JsonValue
from twin.kube.schema_notation import PART_PREFIX, object_schema

_NOTATION: Final[dict[str, str]] = {
    "ObjectMeta": "name:str generateName:str namespace:str selfLink:str uid:str resourceVersion:str "
    "generation:int "
    "creationTimestamp:time deletionTimestamp:time deletionGracePeriodSeconds:int labels:{str} "
    "annotations:{str} "
    "ownerReferences:[OwnerReference] finalizers:[str] managedFields:[any]",
    "OwnerReference": "apiVersion*:str kind*:str name*:str uid*:str controller:bool blockOwnerDeletion:bool",
    "PodTemplate": "metadata:ObjectMeta spec*:PodSpec",
    "PodSpec": "activeDeadlineSeconds:int affinity:any automountServiceAccountToken:bool "
    "containers*:[Container] "
    "dnsConfig:any dnsPolicy:str enableServiceLinks:bool ephemeralContainers:[any] hostAliases:[any] "
    "hostIPC:bool "
    "hostNetwork:bool hostPID:bool hostUsers:bool hostname:str imagePullSecrets:[any] "
    "initContainers:[Container] "
    "nodeName:str nodeSelector:{str} os:any overhead:{quantity} preemptionPolicy:str priority:int "
    "priorityClassName:str readinessGates:[any] resourceClaims:[any] resources:Resources "
    "restartPolicy:=Always/OnFailure/Never runtimeClassName:str schedulerName:str schedulingGates:[any] "
    "securityContext:any serviceAccount:str serviceAccountName:str setHostnameAsFQDN:bool "
    "shareProcessNamespace:bool subdomain:str terminationGracePeriodSeconds:int+ tolerations:[Toleration] "
    "topologySpreadConstraints:[any] volumes:[Volume]",
    "Container": "name*:str image:str command:[str] args:[str] workingDir:str ports:[any] env:[EnvVar] "
    "envFrom:[any] "
    "resources:Resources volumeMounts:[VolumeMount] volumeDevices:[any] livenessProbe:any readinessProbe:any "
    "startupProbe:any lifecycle:any terminationMessagePath:str terminationMessagePolicy:str "
    "imagePullPolicy:str "
    "securityContext:any stdin:bool stdinOnce:bool tty:bool restartPolicy:str resizePolicy:[any]",
    "EnvVar": "name*:str value:str valueFrom:any",
    "Resources": "limits:{quantity} requests:{quantity} claims:[any]",
    "VolumeMount": "name*:str mountPath*:str subPath:str subPathExpr:str readOnly:bool mountPropagation:str "
    "recursiveReadOnly:str",
    "Volume": "name*:str emptyDir:any hostPath:any persistentVolumeClaim:any configMap:any secret:any "
    "csi:any "
    "projected:any downwardAPI:any ephemeral:any nfs:any image:any",
    "Toleration": "key:str operator:str value:str effect:str tolerationSeconds:int",
    "Taint": "key*:str value:str effect*:=NoSchedule/PreferNoSchedule/NoExecute timeAdded:time",
    "LabelSelector": "matchLabels:{str} matchExpressions:[any]",
    "ReplicaSpec": "name*:str replicas:int+ maxReplicas:int+ spares:int+ template:PodTemplate",
    "LogMonitoring": "name*:str logPattern*:str expectedStartCutOffInSeconds:int "
    "expectedRecurringFrequencyInSeconds:int "
    "metricThreshold:num operator:=gt/lt/eq/gteq/lteq metricEvaluationDataPoints:int stopPattern:str",
    "JobRestartPolicy": "evalPeriodSeconds*:int maxFullJobRestarts:int+ numRestartBeforeFullJobRestart:int+ "
    "maxNumRepeatOffendersToAvoid:int+ scaleUpSnoozeTimeInSeconds:int+",
    "RunPolicy": "cleanPodPolicy:=All/OnlyComplete/None activeDeadlineSeconds:int+ faultDeadlineSeconds:int+ "
    "startupDeadlineSeconds:int+ jobMaxRetryCount:int+ ttlSecondsAfterFinished:int suspend:bool "
    "workloadMode:str "
    "logMonitoringConfiguration:[LogMonitoring] restartPolicy:JobRestartPolicy",
    "ElasticPolicy": "minReplicas:int+ maxReplicas:int+ replicaIncrementStep:int replicaDiscreteValues:[int] "
    "scalingTimeoutInSeconds:int gracefulShutdownTimeoutInSeconds:int faultyScaleDownTimeoutInSeconds:int",
    "PyTorchJobSpec": "nprocPerNode:str replicaSpecs:[ReplicaSpec] runPolicy:RunPolicy elasticPolicy:ElasticPolicy",
    "ResourceGroup": "coveredResources*:[str] flavors*:[any]",
    "ClusterQueueSpec": "cohortName:str resourceGroups:[ResourceGroup] "
    "queueingStrategy:=StrictFIFO/BestEffortFIFO "
    "preemption:any flavorFungibility:any fairSharing:any namespaceSelector:LabelSelector "
    "admissionChecksStrategy:any stopPolicy:=None/Hold/HoldAndDrain concurrentAdmissionPolicy:any",
    "LocalQueueSpec": "clusterQueue:str fairSharing:any stopPolicy:=None/Hold/HoldAndDrain",
    "FlavorSpec": "nodeLabels:{str} nodeTaints:[Taint] tolerations:[Toleration] topologyName:str",
    "WorkloadSpec": "podSets:[PodSet] queueName:str priority:int priorityClassRef:any active:bool "
    "maximumExecutionTimeSeconds:int",
    "PodSet": "name:str count*:int+ minCount:int+ template*:PodTemplate topologyRequest:any",
    "NodeSpec": "podCIDR:str podCIDRs:[str] providerID:str unschedulable:bool taints:[Taint] "
    "configSource:any "
    "externalID:str",
}


def reference(part: str) -> dict[str, JsonValue]:
    return {"$ref": PART_PREFIX + part}


def part_name(schema: JsonValue) -> str:
    """The part a `$ref` names, empty for any other schema."""
    found = schema.get("$ref") if isinstance(schema, dict) else None
    return found.removeprefix(PART_PREFIX) if isinstance(found, str) else ""


PARTS: Final[dict[str, dict[str, JsonValue]]] = {name: object_schema(notation) for name, notation in _NOTATION.items()}
"""Name -> OpenAPI schema."""
