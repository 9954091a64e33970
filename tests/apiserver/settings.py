#!/usr/bin/env python3
"""Compares `validate` with the real kube-apiserver under settings other than the default ones.

    settings.py ASSETS KUBECTL_CRDX [--version 1.37] [--only NAME] [--modes flags,live,copied,profile,serve] [--updates] [--random SEED --count N]

ASSETS has kube-apiserver and etcd (kube-apiserver.sh builds them). For each setting, the server starts with its flags, and every object is created in a
dry run. The verdicts are compared with those of `validate` with the same flags (flags), without flags, from what it reads of the server (live), the same
with the flags that a server does not show (copied), with a profile that `fetch` saved of the server (profile), and with the answers of `serve` with the same
flags (serve). With --updates, the accepted objects are created, and replaced in a dry run by objects with other labels and fields. Prints a row for each
setting and mode: right and wrong verdicts, those that are wrong although a note of the run says that the flags of the server are unknown, and "cannot tell".
"""
import argparse, collections, contextlib, copy, json, os, random, re, subprocess, sys, tempfile, time, urllib.error, urllib.request

import control_plane


def pod(spec={}, container={}, **metadata):
    """A Pod with one container, and more fields of both."""
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", **metadata},
            "spec": {"containers": [{"name": "c", "image": "registry.example/i:1", **container}], **spec}}


def workload(kind, spec={}, template={}, container={}):
    labels = {"app": "a"}
    base = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod(template, container)["spec"]}}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "w"}, "spec": {**base, **spec}}


def job(spec={}, template={}):
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"},
            "spec": {"template": {"spec": {"restartPolicy": "Never", **pod(template)["spec"]}}, **spec}}


def service(name="s", **spec):
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": {"ports": [{"port": 80}], "selector": {"a": "b"}, **spec}}


def hpa(**spec):
    return {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "h"},
            "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, "maxReplicas": 3, **spec}}


def claim(**spec):
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **spec}}


def volume(source):
    return pod({"volumes": [{"name": "v", **source}]}, {"volumeMounts": [{"name": "v", "mountPath": "/v"}]})


def ingress(service):
    return {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "i"},
            "spec": {"defaultBackend": {"service": {"name": service, "port": {"number": 80}}}}}


EXTERNAL = {"type": "External", "external": {"metric": {"name": "m"}, "target": {"type": "Value", "value": "1"}}}
OBJECTS = [
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"a": "b"}},
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "denied"}, "data": {"a": "b"}},
    {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": "b"}},
    pod(ownerReferences=[{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "u", "blockOwnerDeletion": True}]),
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}},
    pod(), pod(namespace="labelled"), pod(namespace="selected"), pod(namespace="limited"), pod(namespace="exempt"),
    pod({"nodeSelector": {"zone": "b"}}, namespace="selected"), pod({"nodeSelector": {"zone": "a"}}, namespace="selected"),
    pod({"nodeSelector": {"disk": "ssd"}}, namespace="limited"), pod({"nodeSelector": {"disk": "hdd"}}, namespace="limited"),
    pod({"tolerations": [{"key": "x", "operator": "Exists"}]}, namespace="labelled"),
    pod({"tolerations": [{"key": "allowed", "operator": "Exists"}]}, namespace="labelled"),
    pod({"tolerations": [{"key": "x", "operator": "Exists", "effect": "NoSchedule"}]}),
    pod({"tolerations": [{"key": "x", "operator": "Gt", "value": "5"}]}), pod({"tolerations": [{"key": "x", "operator": "Lt", "value": "05"}]}),
    pod({"tolerations": [{"key": "x", "operator": "Gt", "value": "99999999999999999999"}]}),
    pod({"hostPID": True}), pod({"hostPID": True}, namespace="exempt"), pod({"hostNetwork": True}), pod({}, {"securityContext": {"privileged": True}}),
    pod({"runtimeClassName": "sandbox", "hostPID": True}),
    pod({"securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}},
        {"securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}}),
    pod({}, {"imagePullPolicy": "Never"}), pod({}, {"resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}}),
    pod({}, {"resources": {"requests": {"example.com/gpu": "1"}, "limits": {"example.com/gpu": "1"}}}),
    pod({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone", "labelSelector": {}}]}}}),
    pod({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "kubernetes.io/hostname", "labelSelector": {}}]}}}),
    pod({"hostUsers": False}), pod({"hostUsers": False, "hostNetwork": True}),
    pod({}, {"env": [{"name": "a b", "value": "c"}]}), pod({}, {"env": [{"name": "A", "valueFrom": {"fileKeyRef": {"volumeName": "v", "path": "p", "key": "k"}}}]}),
    pod({"hostnameOverride": "a.b"}), pod({"hostnameOverride": "A_B"}), pod({"hostname": "h", "setHostnameAsFQDN": True, "hostnameOverride": "x"}),
    pod({}, {"restartPolicy": "Never"}), pod({"initContainers": [{"name": "i", "image": "i", "restartPolicy": "Never"}]}),
    pod({}, {"restartPolicy": "Never", "restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}]}),
    pod({}, {"restartPolicy": "Never", "restartPolicyRules": [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}]}),
    pod({}, {"restartPolicy": "Never", "restartPolicyRules": [{"action": "Other"}]}),
    pod({"os": {"name": "linux"}}, {"lifecycle": {"stopSignal": "SIGTERM"}}), pod({}, {"lifecycle": {"stopSignal": "SIGNONE"}}),
    pod({"resources": {"requests": {"cpu": "1"}}}), pod({"resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "500m"}}}),
    pod({}, {"resizePolicy": [{"resourceName": "cpu", "restartPolicy": "Other"}]}),
    pod({"securityContext": {"seLinuxChangePolicy": "MountOption"}}), pod({"securityContext": {"seLinuxChangePolicy": "Other"}}),
    pod({"securityContext": {"supplementalGroupsPolicy": "Other"}}), pod({}, {"securityContext": {"procMount": "Unmasked"}}),
    pod({"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "k", "whenUnsatisfiable": "DoNotSchedule", "matchLabelKeys": ["a"]}]}),
    pod({"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "k", "whenUnsatisfiable": "DoNotSchedule", "nodeTaintsPolicy": "Other"}]}),
    pod({"schedulingGates": [{"name": "a"}]}), pod({"schedulingGroup": {"podGroupName": "g"}}), pod({"hostAliases": [{"ip": "010.0.0.1", "hostnames": ["a"]}]}),
    pod({}, {"livenessProbe": {"httpGet": {"port": 80, "protocol": "h2c"}}}), pod({}, {"livenessProbe": {"grpc": {"port": 80, "mode": "TLS"}}}),
    pod({"volumes": [{"name": "v", "emptyDir": {}}]}, {"volumeMounts": [{"name": "v", "mountPath": "/v", "bindMountOptions": ["noexec"]}]}),
    pod({"volumes": [{"name": "v", "emptyDir": {}}]}, {"volumeMounts": [{"name": "v", "mountPath": "/v", "bindMountOptions": ["other", "noexec", "noexec"]}]}),
    pod({"os": {"name": "linux"}}, {"lifecycle": {"stopSignal": "SIGNONE"}}), pod({"os": {"name": "windows"}}, {"lifecycle": {"stopSignal": "SIGUSR1"}}),
    pod({}, {"livenessProbe": {"httpGet": {"port": 80, "path": "/", "protocol": "HTTP2"}}}),
    pod({}, {"livenessProbe": {"httpGet": {"port": 80, "path": "/", "scheme": "HTTPS", "protocol": "HTTP2"}}}),
    pod({}, {"livenessProbe": {"httpGet": {"port": 80, "path": "/", "host": "h", "protocol": "HTTP2"}}}),
    pod({}, {"livenessProbe": {"httpGet": {"port": 80, "path": "/", "protocol": "HTTP3"}}}), pod({}, {"livenessProbe": {"grpc": {"port": 80, "mode": "Other"}}}),
    volume({"image": {"reference": "i"}}), volume({"image": {"reference": ""}}), volume({"emptyDir": {"mode": 1023}}), volume({"emptyDir": {"mode": 99999}}),
    volume({"secret": {"secretName": "s", "defaultUser": 5}}), volume({"secret": {"secretName": "s", "defaultUser": -5}}),
    volume({"projected": {"sources": [{"clusterTrustBundle": {"path": "p", "name": "n", "signerName": "a/b"}}]}}),
    volume({"projected": {"sources": [{"clusterTrustBundle": {"path": "p"}}]}}),
    volume({"projected": {"sources": [{"podCertificate": {"signerName": "a.b/c", "keyType": "ED25519", "credentialBundlePath": "p"}}]}}),
    volume({"projected": {"sources": [{"podCertificate": {"signerName": "a", "keyType": "X"}}]}}), volume({"gitRepo": {"repository": "r"}}),
    workload("Deployment"), workload("Deployment", template={"hostPID": True}), workload("Deployment", template={"hostAliases": [{"ip": "::ffff:1.2.3.4"}]}),
    workload("Deployment", template={"tolerations": [{"key": "x", "operator": "Gt", "value": "5"}]}),
    workload("StatefulSet", {"serviceName": "s"}), workload("StatefulSet", {"serviceName": "s", "updateStrategy": {"type": "Recreate"}}),
    workload("StatefulSet", {"serviceName": "s", "updateStrategy": {"type": "Recreate", "rollingUpdate": {"partition": 1}}}),
    workload("StatefulSet", {"serviceName": "s", "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0}}}),
    workload("StatefulSet", {"serviceName": "s", "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "200%"}}}),
    workload("DaemonSet"), workload("ReplicaSet", template={"hostNetwork": True}),
    job(), job({"managedBy": "a"}), job({"managedBy": "a.b/c"}), job({"successPolicy": {"rules": []}, "completionMode": "Indexed", "completions": 1}),
    job({"suspend": True}), job({}, {"hostnameOverride": "x"}),
    service(), service("1-a"), service(externalIPs=["192.0.2.1"]), service(externalIPs=["192.0.2.01"]), service(trafficDistribution="PreferSameNode"),
    service(trafficDistribution="Other"), service(type="LoadBalancer", loadBalancerSourceRanges=["10.0.0.1/8"]), service(type="NodePort"),
    hpa(), hpa(minReplicas=0), hpa(minReplicas=0, metrics=[EXTERNAL]), hpa(minReplicas=-1), hpa(behavior={"scaleUp": {"tolerance": "-1"}}),
    hpa(behavior={"scaleUp": {"tolerance": "0.1"}}),
    ingress("a"), ingress("1-a"), claim(), claim(storageClassName="none"), claim(volumeAttributesClassName="Bad_Name"),
    claim(dataSourceRef={"kind": "PersistentVolumeClaim", "name": "x", "namespace": "other"}),
    {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v"},
     "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/a"}, "volumeAttributesClassName": ""}},
    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "spec": {"podCIDR": "10.0.0.0/24", "podCIDRs": ["10.0.0.0/24"]}},
    {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "n"},
     "spec": {"podSelector": {}, "egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.1/8"}}]}]}},
    {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "n2"},
     "spec": {"podSelector": {}, "egress": [{"to": [{"ipBlock": {"cidr": "010.0.0.0/8"}}]}]}},
    {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "d.example.com"}, "spec": {"nodeAllocatableUpdatePeriodSeconds": 5}},
    {"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttributesClass", "metadata": {"name": "v"}, "driverName": "d", "parameters": {"a": "b"}},
    {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "d"}, "spec": {"extendedResourceName": "a.b/c"}},
    {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "d2"}, "spec": {"extendedResourceName": "cpu"}},
    {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "r"},
     "spec": {"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "d", "tolerations": [{"operator": "Other"}]}}]}}},
    {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"}, "spec": {"strategy": "OldestEmulationVersion"}},
    {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"}, "spec": {"maxUnavailable": 1, "selector": {}}},
    {"apiVersion": "certificates.k8s.io/v1", "kind": "ClusterTrustBundle", "metadata": {"name": "t"}, "spec": {"trustBundle": "x"}},
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "pc"}, "value": 5},
    workload("DaemonSet", container={"securityContext": {"privileged": True}}), job({}, {"initContainers": [{"name": "i", "image": "i", "securityContext": {"privileged": True}}]}),
    service(type="NodePort", ports=[{"port": 80, "nodePort": 30001}]), service(type="NodePort", ports=[{"port": 80, "nodePort": 40500}]),
    service(clusterIP="10.0.0.77"), service(clusterIP="192.168.0.77"),
    {"apiVersion": "storage.k8s.io/v1beta1", "kind": "VolumeAttributesClass", "metadata": {"name": "vb"}, "driverName": "d", "parameters": {"a": "b"}},
    {"apiVersion": "resource.k8s.io/v1beta1", "kind": "ResourceClaim", "metadata": {"name": "rb"}, "spec": {"devices": {"requests": [{"name": "a", "deviceClassName": "d"}]}}},
    {"apiVersion": "resource.k8s.io/v1beta2", "kind": "DeviceClass", "metadata": {"name": "db"}, "spec": {}},
    {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "cj"},
     "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}}},
]
NAMESPACES = [
    {"metadata": {"name": "labelled", "annotations": {"scheduler.alpha.kubernetes.io/tolerationsWhitelist": '[{"key":"allowed","operator":"Exists"}]'}}},
    {"metadata": {"name": "selected", "annotations": {"scheduler.alpha.kubernetes.io/node-selector": "zone=a"}}},
    {"metadata": {"name": "limited"}}, {"metadata": {"name": "exempt"}},
]
RESULTS = ("right", "wrong", "noted", "cannot tell")
CONFIGURATION = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration"}


def configuration(plugin, document):
    return {"config": {**CONFIGURATION, "plugins": [{"name": plugin, "configuration": document}]}}


def pod_security(**document):
    return configuration("PodSecurity", {"apiVersion": "pod-security.admission.config.k8s.io/v1", "kind": "PodSecurityConfiguration", **document})


def quota(*limited):
    return configuration("ResourceQuota", {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "ResourceQuotaConfiguration", "limitedResources": list(limited)})


def gates(**states):
    return {"flags": {"feature-gates": ",".join(f"{name}={str(state).lower()}" for name, state in states.items())}}


def plugins(*names, **more):
    return {"flags": {"enable-admission-plugins": ",".join(names)}, **more}


def disabled(*names):
    return {"flags": {"disable-admission-plugins": ",".join(("ServiceAccount",) + names)}}


# The gates of 1.37 whose state decides about an object above, in the state that is not the default.
CHANGED = dict(
    StatefulSetRecreateStrategy=True, HPAScaleToZero=False, StrictIPCIDRValidation=False, TaintTolerationComparisonOperators=True, EmptyDirVolumeMode=True,
    AtomicWriteVolumeUserFields=True, ContainerStopSignals=True, H2CContainerProbe=True, GRPCContainerProbeTLS=True, MaxUnavailableStatefulSet=False,
    ContainerRestartRules=False, RestartAllContainersOnContainerExits=False, EnvFiles=False, PodLevelResources=False, ClusterTrustBundleProjection=False,
    PodCertificateRequest=False, VolumeLimitScaling=False, MutablePVNodeAffinity=True, SELinuxMount=False,
    MatchLabelKeysInPodTopologySpread=False, GenericWorkload=True, UserNamespacesHostNetworkSupport=True, DRADeviceTaints=False, HPAGeneration=False,
    CrossNamespaceVolumeDataSource=True, PodDeletionCost=False, ManifestBasedAdmissionControlConfig=False, ImageVolumeWithDigest=True,
)
# A gate that depends on another one is disabled with it.
WITH = {"MatchLabelKeysInPodTopologySpread": ["MatchLabelKeysInPodTopologySpreadSelectorMerge"], "ContainerRestartRules": ["RestartAllContainersOnContainerExits"], "PodLevelResources": ["InPlacePodLevelResourcesVerticalScaling", "PodLevelResourceManagers",
        "PodLevelResourcesFixDefaulting", "PodLevelResourcesFixKubeletQOSClass"], "DRADeviceTaints": ["DRADeviceTaintRules"]}
SETTINGS = {
    "default": {},
    **{f"emulated {minor}": {"flags": {"emulated-version": minor}} for minor in ("1.36", "1.35", "1.34")},
    **{f"{name}={str(state).lower()}": gates(**{name: state}, **{other: False for other in WITH.get(name, [])}) for name, state in CHANGED.items()},
    "AllBeta=false": gates(AllBeta=False),
    "emulated 1.36, HPAScaleToZero=true": {"flags": {"emulated-version": "1.36", "feature-gates": "HPAScaleToZero=true,StrictIPCIDRValidation=false"}},
    **{name: plugins(name) for name in ("AlwaysPullImages", "DenyServiceExternalIPs", "ExtendedResourceToleration", "LimitPodHardAntiAffinityTopology",
                                        "NamespaceExists", "NamespaceAutoProvision", "PodNodeSelector", "PodTolerationRestriction",
                                        "OwnerReferencesPermissionEnforcement", "NodeRestriction")},
    "bind mounts, sockets and pod-level fields": gates(VolumeBindMountOptions=True, EmptyDirVolumeMode=True, GRPCContainerProbeTLS=True),
    "all plugins of Pods": plugins("AlwaysPullImages", "PodNodeSelector", "PodTolerationRestriction", "LimitPodHardAntiAffinityTopology"),
    **{f"without {name}": disabled(name) for name in ("PodSecurity", "Priority", "LimitRanger", "RuntimeClass", "NamespaceLifecycle", "DefaultTolerationSeconds",
                                                      "ResourceQuota", "DefaultStorageClass")},
    "PodSecurity baseline": pod_security(defaults={"enforce": "baseline"}),
    "PodSecurity restricted v1.30": pod_security(defaults={"enforce": "restricted", "enforce-version": "v1.30", "warn": "restricted"}),
    "PodSecurity exemptions": pod_security(defaults={"enforce": "baseline"}, exemptions={"namespaces": ["exempt"], "runtimeClasses": ["sandbox"]}),
    "ResourceQuota limits": quota({"resource": "pods", "matchContains": ["requests.cpu"]}, {"apiGroup": "apps", "resource": "deployments", "matchContains": ["count/deployments.apps"]}),
    "ResourceQuota scopes": quota({"resource": "pods", "matchScopes": [{"scopeName": "BestEffort", "operator": "Exists"}]}),
    "PodNodeSelector configuration": plugins("PodNodeSelector", **configuration(
        "PodNodeSelector", {"podNodeSelectorPluginConfig": {"clusterDefaultNodeSelector": "zone=c", "limited": "disk=ssd,zone=c"}})),
    "PodTolerationRestriction configuration": plugins("PodTolerationRestriction", **configuration("PodTolerationRestriction", {
        "apiVersion": "podtolerationrestriction.admission.k8s.io/v1alpha1", "kind": "Configuration",
        "default": [{"key": "d", "operator": "Exists"}], "whitelist": [{"key": "d", "operator": "Exists"}, {"operator": "Exists", "effect": "NoExecute"}]})),
    "static policies": {"static": True},
    "allow-privileged=false": {"flags": {"allow-privileged": "false"}},
    **{f"runtime-config {value}": {"flags": {"runtime-config": value}} for value in (
        "batch/v1=false", "batch/v1/cronjobs=false", "api/beta=true", "resource.k8s.io/v1beta1=true,resource.k8s.io/v1beta2=false", "storage.k8s.io/v1beta1=true,apps/v1=false")},
    "service-node-port-range": {"flags": {"service-node-port-range": "40000-41000"}},
    "AllBeta=true": {"flags": {"feature-gates": "AllBeta=true", "runtime-config": "api/beta=true"}},
    "AlwaysAdmit": plugins("AlwaysAdmit"),
    # A server that emulates 1.35 has no /flagz.
    "emulated 1.36, three plugins, baseline": {**pod_security(defaults={"enforce": "baseline"}), "flags": {
        "emulated-version": "1.36", "enable-admission-plugins": "AlwaysPullImages,DenyServiceExternalIPs,NamespaceExists"}},
    "two gates, without PodSecurity": {"flags": {"feature-gates": "StatefulSetRecreateStrategy=true,HPAScaleToZero=false", "disable-admission-plugins": "ServiceAccount,PodSecurity"}},
    "emulated 1.34, ContainerStopSignals=true": {"flags": {"emulated-version": "1.34", "feature-gates": "ContainerStopSignals=true"}},
    "service-cluster-ip-range": {"flags": {"service-cluster-ip-range": "192.168.0.0/24"}},
    "toleration seconds": {"flags": {"default-not-ready-toleration-seconds": "5", "default-unreachable-toleration-seconds": "0"}},
    "AllAlpha=true": {"flags": {"feature-gates": "AllAlpha=true,GenericWorkload=true", "runtime-config": "api/all=true"}},
    "emulated 1.36, AllBeta=false": {"flags": {"emulated-version": "1.36", "feature-gates": "AllBeta=false"}},
    "emulated 1.34, AllBeta=false, ContainerRestartRules=true": {"flags": {"emulated-version": "1.34", "feature-gates": "AllBeta=false,ContainerRestartRules=true"}},
    "emulated 1.35, without two plugins": {"flags": {"emulated-version": "1.35", "disable-admission-plugins": "ServiceAccount,PodSecurity,Priority"}},
    "AlwaysDeny": plugins("AlwaysDeny"),
    "NamespaceExists without NamespaceLifecycle": {"flags": {"enable-admission-plugins": "NamespaceExists", "disable-admission-plugins": "ServiceAccount,NamespaceLifecycle"}},
    "NamespaceAutoProvision without NamespaceLifecycle": {"flags": {"enable-admission-plugins": "NamespaceAutoProvision", "disable-admission-plugins": "ServiceAccount,NamespaceLifecycle"}},
    "without seven plugins": disabled("PodSecurity", "Priority", "LimitRanger", "DefaultStorageClass", "StorageObjectInUseProtection", "TaintNodesByCondition", "DefaultTolerationSeconds"),
    "runtime-config api/all=false,api/ga=true": {"flags": {"runtime-config": "api/all=false,api/ga=true"}},
    "two address families": {"flags": {"service-cluster-ip-range": "10.0.0.0/24,fd00::/112"}},
    "IPv6 services": {"flags": {"service-cluster-ip-range": "fd00::/112"}},
    "ports 1-65535, privileged forbidden, without PodSecurity": {"flags": {
        "service-node-port-range": "1-65535", "allow-privileged": "false", "disable-admission-plugins": "ServiceAccount,PodSecurity"}},
    "negative toleration seconds": {"flags": {"default-not-ready-toleration-seconds": "-1", "default-unreachable-toleration-seconds": "9223372036854775807"}},
    "two old validations": gates(StrictIPCIDRValidation=False, RelaxedServiceNameValidation=False),
    "ExtendedResourceToleration, PodTolerationRestriction": plugins("ExtendedResourceToleration", "PodTolerationRestriction"),
    "PodSecurity exempt users": pod_security(defaults={"enforce": "restricted"}, exemptions={"usernames": ["admin"]}),
    "ResourceQuota of services and claims": quota({"resource": "services", "matchContains": ["services"]}, {"resource": "persistentvolumeclaims", "matchContains": ["requests.storage"]},
                                                  {"resource": "configmaps", "matchContains": ["count/"]}),
    "ResourceQuota of a priority": quota({"resource": "pods", "matchScopes": [{"scopeName": "PriorityClass", "operator": "In", "values": ["system-node-critical"]}]}),
    "static policies, AlwaysPullImages, emulated 1.36": {"static": True, "flags": {
        "enable-admission-plugins": "AlwaysPullImages", "emulated-version": "1.36", "feature-gates": "ManifestBasedAdmissionControlConfig=true"}},
    # Without a flag of `validate`: read from the server only.
    "no profiling": {"flags": {"profiling": "false", "enable-admission-plugins": "NodeRestriction,DenyServiceExternalIPs", "feature-gates": "ComponentFlagz=false"}, "read": True},
    "min-compatibility-version=1.36": {"flags": {"min-compatibility-version": "1.36"}, "read": True},
    "RBAC and no garbage collector": {"flags": {"authorization-mode": "Node,RBAC", "enable-garbage-collector": "false", "enable-admission-plugins": "OwnerReferencesPermissionEnforcement"}, "read": True},
    "JSON storage, no watch cache, no fairness": {"flags": {"storage-media-type": "application/json", "watch-cache": "false", "enable-priority-and-fairness": "false"}, "read": True},
}
POLICY = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "deny.static.k8s.io"},
          "spec": {"failurePolicy": "Fail", "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}]},
                   "validations": [{"expression": "object.metadata.name != 'denied'"}]}}
BINDING = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "deny.static.k8s.io"},
           "spec": {"policyName": "deny.static.k8s.io", "validationActions": ["Deny"]}}


# The plugins that random settings enable and disable.
ENABLED = ("AlwaysPullImages", "DenyServiceExternalIPs", "ExtendedResourceToleration", "LimitPodHardAntiAffinityTopology", "NamespaceExists", "OwnerReferencesPermissionEnforcement", "PodTolerationRestriction")
DISABLED = ("PodSecurity", "Priority", "LimitRanger", "RuntimeClass", "DefaultTolerationSeconds", "DefaultStorageClass", "DefaultIngressClass", "TaintNodesByCondition", "StorageObjectInUseProtection")


def gates_of(version):
    """The gates of a version that the answers to requests depend on and that can be set, from docs/feature-gates.md."""
    minor = int(version.split(".")[1])
    with open(os.path.join(os.path.dirname(__file__), "..", "..", "docs", "feature-gates.md")) as page:
        for line in page:
            row = re.match(r"\| `(\w+)` \| 1\.(\d+)(?:\.\.1\.(\d+))? \| (.*?) \|", line)
            if row and int(row[2]) <= minor <= int(row[3] or row[2]):
                stages = [stage for stage in row[4].split(";") if int((re.search(r"since 1\.(\d+)", stage) or [0, 0])[1]) <= minor]
                if stages and "locked" not in stages[-1]:
                    yield row[1]


def random_settings(seed, count, version):
    """Settings with random gates, plugins and emulated versions. A server does not start with some of them."""
    chance, known, minor = random.Random(seed), sorted(set(gates_of(version))), int(version.split(".")[1])
    for at in range(count):
        states = {gate: chance.random() < 0.6 for gate in chance.sample(known, chance.randint(1, 6))}
        flags = {"feature-gates": ",".join(f"{gate}={str(state).lower()}" for gate, state in states.items())}
        if chance.random() < 0.5:
            flags["enable-admission-plugins"] = ",".join(chance.sample(ENABLED, chance.randint(1, 3)))
        flags["disable-admission-plugins"] = ",".join(("ServiceAccount", *chance.sample(DISABLED, chance.choice((0, 0, 1, 2)))))
        if chance.random() < 0.3:
            flags["emulated-version"] = f"1.{chance.randint(minor - 3, minor - 1)}"
        if chance.random() < 0.2:
            flags["allow-privileged"] = "false"
        yield f"random {seed}.{at}: " + " ".join(f"--{name}={value}" for name, value in flags.items()), {"flags": flags}


def prepared(setting, work):
    """The flags of a setting, with files in `work`."""
    flags = dict(setting.get("flags", {}))
    document = setting.get("config")
    if setting.get("static"):
        policies = os.path.join(work, "policies")
        os.makedirs(policies, exist_ok=True)
        with open(os.path.join(policies, "deny.yaml"), "w") as out:
            out.write(json.dumps(POLICY) + "\n---\n" + json.dumps(BINDING) + "\n")
        document = configuration("ValidatingAdmissionPolicy", {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "ValidatingAdmissionPolicyConfiguration",
                                                               "staticManifestsDir": policies})["config"]
    if document:
        path = os.path.join(work, "admission.yaml")
        with open(path, "w") as out:
            json.dump(document, out)
        flags["admission-control-config-file"] = path
    return flags


def objects():
    """The objects with names of their own."""
    for at, each in enumerate(OBJECTS):
        each = copy.deepcopy(each)
        name = each["metadata"]["name"]
        keeps = each["kind"] == "Service" or name == "denied"
        each["metadata"]["name"] = name if keeps and each["kind"] != "Service" else (f"{name}{at}" if not name[0].isdigit() else f"{at}-{name}")
        yield each


def answers(resources, send, all_objects, update=False):
    """Whether a server accepts each object, and its message."""
    for each in all_objects:
        found = resources.get((each["apiVersion"], each["kind"]))
        if found is None:
            yield False, "not served"
            continue
        path, plural, namespaced = found
        inside = f"/namespaces/{each['metadata'].get('namespace', 'default')}" if namespaced else ""
        method, at = ("PUT", f"{path}{inside}/{plural}/{each['metadata']['name']}") if update else ("POST", f"{path}{inside}/{plural}")
        if update:
            # As `kubectl replace` does.
            each = copy.deepcopy(each)
            each["metadata"]["resourceVersion"] = send("GET", at, None)[1]["metadata"]["resourceVersion"]
        code, answer = send(method, f"{at}?dryRun=All&fieldValidation=Strict", json.dumps(each))
        yield code in (200, 201), "" if code in (200, 201) else answer.get("message", "")


def to_real(plane):
    return lambda method, path, body: plane.send(method, path, body, {"Content-Type": "application/json"})[:2]


def to_simulated(url):
    """Sends requests to `serve`."""
    def send(method, path, body):
        request = urllib.request.Request(url + path, body.encode(), {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as answer:
            text = answer.read().decode()
            return answer.code, json.loads(text) if text.startswith("{") else {"message": text.strip()}
    return send


def changed(each, at):
    """The object with other labels, and a field that is often immutable."""
    each = copy.deepcopy(each)
    each["metadata"].setdefault("labels", {})["changed"] = "yes"
    if each["kind"] in ("StatefulSet", "Deployment") and at % 2:
        each["spec"]["selector"] = {"matchLabels": {"app": "other"}}
    if each["kind"] == "Pod" and at % 3 == 0:
        each["spec"]["containers"][0]["image"] = "registry.example/i:2"
    return each


def validated(program, words, path):
    """The verdict of `validate` about each object, and its reason."""
    words = [program, "validate", "-f", path, "-o", "json", *words]
    run = subprocess.run(words, capture_output=True, text=True)
    try:
        report = json.loads(run.stdout)
        items = report["items"]
    except (ValueError, KeyError):
        raise SystemExit(f"{' '.join(words)}: {run.stdout[:2000]} {run.stderr}")
    is_noted = any("flags" in note["message"] and "are unknown" in note["message"] for note in report.get("notes", []))
    return [(item["verdict"], item.get("reason") or (item.get("answer") or {}).get("message", "")) for item in items], is_noted


class Judge:
    """One server with the flags of a setting, and what it answers."""

    def __init__(self, given, name, work, plane, flags):
        self.given, self.name, self.work, self.plane, self.flags = given, name, work, plane, flags
        self.own_flags = [f"--{flag}={value}" for flag, value in {"disable-admission-plugins": "ServiceAccount", "service-cluster-ip-range": "10.0.0.0/24", **flags}.items()]
        # Files on the disk of the server, and all flags of a server without /flagz.
        shows_flags = plane.send("GET", "/flagz", headers={"Accept": "*/*"})[0] == 200
        self.hidden_flags = [flag for flag in self.own_flags if not shows_flags or flag.startswith("--admission-control-config-file")]
        self.kubeconfig = ["--kubeconfig", plane.kubeconfig]

    def written(self, all_objects):
        path = os.path.join(self.work, "objects.yaml")
        with open(path, "w") as out:
            out.write("\n---\n".join(json.dumps(each) for each in all_objects) + "\n")
        return path

    def verdicts(self, mode, all_objects, update):
        """The verdicts, and whether a note says that the flags of the server are unknown."""
        more = ["--replace"] if update else []
        if mode == "serve":
            return self.served(all_objects)
        if mode == "profile":
            folder = os.path.join(self.work, "profile")
            subprocess.run([self.given.program, "fetch", "--from-cluster", "--profile", folder, *self.kubeconfig], check=True, capture_output=True)
            # The configuration of admission plugins is on the disk of the server.
            file = [word for word in self.own_flags if word.startswith("--admission-control-config-file")]
            return validated(self.given.program, ["--profile", folder, *file], self.written(all_objects))
        words = {"live": [], "copied": self.hidden_flags}.get(mode, ["--kubernetes-version", self.given.version, *self.own_flags])
        return validated(self.given.program, [*self.kubeconfig, *words, *more], self.written(all_objects))

    def served(self, all_objects):
        namespaces = ["default", *(each["metadata"]["name"] for each in NAMESPACES)]
        load = os.path.join(self.work, "namespaces.yaml")
        with open(load, "w") as out:
            out.write("\n---\n".join(json.dumps({"apiVersion": "v1", "kind": "Namespace", **each}) for each in NAMESPACES))
        words = [self.given.program, "serve", "--builtin", "--admission", "--request-user", "admin", "--request-group", "system:masters", "--kubernetes-version", self.given.version, *self.own_flags, "--load", load]
        with open(os.path.join(self.work, "serve.log"), "w") as log, subprocess.Popen(words, stdout=subprocess.PIPE, stderr=log, text=True) as server:
            try:
                url = server.stdout.readline().strip()
                if not url:
                    raise SystemExit(f"{' '.join(words)}: {open(log.name).read()}")
                given = answers(self.plane.resources(), to_simulated(url), all_objects)
                # APIs that are disabled by default are not served, as a warning says.
                missing = "the server could not find the requested resource"
                return [("accepted" if accepted else "cannotTell" if message in ("404 page not found", missing) else "rejected", message) for accepted, message in given], False
            finally:
                server.terminate()

    def compare(self, mode, all_objects, update=False):
        counts = dict.fromkeys(RESULTS, 0)
        real = answers(self.plane.resources(), to_real(self.plane), all_objects, update)
        real, (given, is_noted) = list(real), self.verdicts(mode, all_objects, update)
        for each, (accepted, message), (verdict, reason) in zip(all_objects, real, given, strict=True):
            is_right = (verdict == "accepted") == accepted
            result = "cannot tell" if verdict in ("cannotTell", "decodes") else "right" if is_right else "noted" if is_noted else "wrong"
            if message == "not served" and verdict in ("cannotTell", "rejected"):
                result = "right"
            counts[result] += 1
            if result != "right":
                print(f"{self.name}, {mode}{' of updates' if update else ''}: {result}: {json.dumps(each)}\n  server: {accepted} {message}\n  simulated: {verdict} {reason}", file=sys.stderr)
        words = f"{mode}, updates" if update else mode
        print(f"| {self.name} | {words} | {len(all_objects)} | {' | '.join(str(counts[result]) for result in RESULTS)} |", flush=True)
        return counts

    def comparisons(self, modes, all_objects, updates):
        """The comparisons: their mode, their objects, and whether these are updates. Objects are created after the other comparisons."""
        for mode in modes:
            yield mode, all_objects, False
        if updates:
            yield modes[0], [changed(each, at) for at, each in enumerate(self.created(all_objects))], True

    def created(self, all_objects):
        """Creates the objects, and returns those that the server accepted."""
        send = to_real(self.plane)
        for each in all_objects:
            found = self.plane.resources().get((each["apiVersion"], each["kind"]))
            if found:
                path, plural, namespaced = found
                inside = f"/namespaces/{each['metadata'].get('namespace', 'default')}" if namespaced else ""
                if send("POST", f"{path}{inside}/{plural}?fieldValidation=Strict", json.dumps(each))[0] == 201:
                    yield each


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("assets")
    arguments.add_argument("program")
    arguments.add_argument("--version", default="1.37")
    arguments.add_argument("--only")
    arguments.add_argument("--modes", default="flags,live,copied,profile,serve")
    arguments.add_argument("--updates", action="store_true")
    arguments.add_argument("--random", type=int, metavar="SEED", help="random settings instead of the listed ones")
    arguments.add_argument("--count", type=int, default=30, help="the number of random settings")
    given = arguments.parse_args()
    begin, starts, totals = time.time(), 0, collections.defaultdict(lambda: dict.fromkeys(("settings", "objects", *RESULTS), 0))
    print(f"| setting | mode | objects | {' | '.join(RESULTS)} |\n|---|---|---|{'---|' * len(RESULTS)}")
    settings = SETTINGS if given.random is None else dict(random_settings(given.random, given.count, given.version))
    for name, setting in settings.items():
        if given.only and given.only not in name:
            continue
        with tempfile.TemporaryDirectory() as work:
            # An earlier server may have had the same port.
            os.environ["CRDX_CACHE"] = os.path.join(work, "cache")
            flags = prepared(setting, work)
            plane = control_plane.ControlPlane(given.assets, os.path.join(work, "plane"), flags)
            try:
                plane.__enter__()
            except SystemExit:
                lines = [line for line in open(plane.log).read().splitlines() if "rror" in line]
                print(f"| {name} | the server does not start: {lines[-1:]} | | | | |")
                continue
            starts += 1
            with contextlib.ExitStack() as stack:
                stack.callback(plane.__exit__)
                for namespace in NAMESPACES:
                    plane.send("POST", "/api/v1/namespaces", json.dumps(namespace), {"Content-Type": "application/json"})
                judge, all_objects = Judge(given, name, work, plane, flags), list(objects())
                modes = [mode for mode in given.modes.split(",") if not (setting.get("read") and mode in ("flags", "serve"))]
                # Without a file on the disk of a server that shows its flags, nothing is hidden.
                modes = [mode for mode in modes if mode != "copied" or judge.hidden_flags]
                for mode, of, update in judge.comparisons(modes, all_objects, given.updates):
                    row = totals["updates" if update else mode]
                    for key, value in {"settings": 1, "objects": len(of), **judge.compare(mode, of, update)}.items():
                        row[key] += value
    print(f"\n| verdicts of | settings | objects | {' | '.join(RESULTS)} |\n|---|---|---|{'---|' * len(RESULTS)}")
    for mode, row in totals.items():
        print(f"| {mode} | {' | '.join(map(str, row.values()))} |")
    print(f"\n{starts} starts, {time.time() - begin:.0f} s")
    sys.exit(any(row["wrong"] for row in totals.values()))


if __name__ == "__main__":
    main()
