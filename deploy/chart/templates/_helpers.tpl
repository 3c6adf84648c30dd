{{- /* A chart and the charts that it contains share the names of templates, so each begins with the name of this chart. */ -}}

{{- define "merchant-connectivity.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 48 | trimSuffix "-" -}}
{{- end -}}

{{- /* The suffixes of components have at most 15 characters. */ -}}
{{- define "merchant-connectivity.fullname" -}}
{{- $own := include "merchant-connectivity.name" . -}}
{{- $name := ternary .Release.Name (printf "%s-%s" .Release.Name $own) (contains $own .Release.Name) -}}
{{- .Values.fullnameOverride | default $name | trunc 48 | trimSuffix "-" -}}
{{- end -}}

{{- /* Takes a dictionary with `root`, and optionally `component` and `extra`, other labels. */ -}}
{{- define "merchant-connectivity.labels" -}}
{{- $own := include "merchant-connectivity.selector" . | fromYaml -}}
{{- $_ := set $own "app.kubernetes.io/version" .root.Chart.AppVersion -}}
{{- $_ := set $own "app.kubernetes.io/managed-by" .root.Release.Service -}}
{{- $_ := set $own "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63) -}}
{{- toYaml (merge $own (.extra | default dict | deepCopy) (deepCopy .root.Values.commonLabels)) -}}
{{- end -}}

{{- /* Takes a dictionary with `root`, and optionally `component`. */ -}}
{{- define "merchant-connectivity.selector" -}}
app.kubernetes.io/name: {{ printf "%s%s" (include "merchant-connectivity.name" .root) (eq (.component | default "") "test" | ternary "-test" "") | quote }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end -}}

{{- /* The pod of `helm test` has another name, so that neither the network policy nor Prometheus selects it. */ -}}
{{- define "merchant-connectivity.testLabels" -}}
{{- include "merchant-connectivity.selector" (dict "root" . "component" "test") -}}
{{- end -}}

{{- /* The metadata of an object. Takes a dictionary with `root` and `name`, and optionally `component`, `labels` and `annotations`. */ -}}
{{- define "merchant-connectivity.metadata" -}}
name: {{ .name }}
labels: {{- include "merchant-connectivity.labels" (dict "root" .root "component" .component "extra" .labels) | nindent 2 }}
{{- with merge (.annotations | default dict | deepCopy) (deepCopy .root.Values.commonAnnotations) }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "merchant-connectivity.image" -}}
{{- $image := .Values.image -}}
{{- $repository := $image.repository -}}
{{- with (.Values.global | default dict).imageRegistry | default $image.registry -}}
{{- $repository = printf "%s/%s" . (regexReplaceAll "^([^/]*[.:][^/]*|localhost)/" $repository "") -}}
{{- end -}}
{{- if $image.digest -}}{{ $repository }}@{{ $image.digest }}
{{- else -}}{{ $repository }}:{{ $image.tag | default .Chart.AppVersion }}{{- end -}}
{{- end -}}

{{- /* The surfaces that this release serves, separated by commas. */ -}}
{{- define "merchant-connectivity.surfaces" -}}
{{- $surfaces := list -}}
{{- range tuple "platform" "connector" "dashboard" "careers" -}}
{{- if get $.Values.hosts . }}{{ $surfaces = append $surfaces . }}{{ end -}}
{{- end -}}
{{- if .Values.internal }}{{ $surfaces = append $surfaces "internal" }}{{ end -}}
{{- join "," $surfaces -}}
{{- end -}}

{{- /* The component that serves a surface. */ -}}
{{- define "merchant-connectivity.component" -}}
{{- ternary .surface "api" .root.Values.separateSurfaces -}}
{{- end -}}

{{- /* The hosts of each component, as a dictionary of lists: {"api": ["api.example.com", …]}. */ -}}
{{- define "merchant-connectivity.hosts" -}}
{{- $root := . -}}
{{- $seen := dict -}}
{{- $hosts := dict -}}
{{- range $surface := tuple "platform" "connector" "dashboard" "careers" -}}
{{- $host := get $root.Values.hosts $surface -}}
{{- $component := include "merchant-connectivity.component" (dict "root" $root "surface" $surface) -}}
{{- if and $host (hasKey $seen $host) -}}
{{- if $root.Values.separateSurfaces }}{{ fail (printf "With separateSurfaces, each surface needs a host of its own: %s is used twice." $host) }}{{ end -}}
{{- else if $host -}}
{{- $_ := set $seen $host true -}}
{{- $_ := set $hosts $component (append (get $hosts $component | default list) $host) -}}
{{- end -}}
{{- end -}}
{{- toJson $hosts -}}
{{- end -}}

{{- /*
  Every setting that is not secret, also for the migration, which runs before a ConfigMap would exist. Takes a dictionary with
  `root` and `extraEnv`, whose variables replace settings.
*/ -}}
{{- define "merchant-connectivity.settings" -}}
{{- $extraEnv := .extraEnv -}}
{{- with .root -}}
{{- $settings := dict "MIGRATE_ON_START" "off" "TRUSTED_PROXY_HOPS" (toString .Values.trustedProxyHops) -}}
{{- range $surface, $host := .Values.hosts -}}
{{- if $host }}{{ $_ := set $settings (printf "%s_URL" (upper $surface)) (printf "https://%s" $host) }}{{ end -}}
{{- end -}}
{{- if .Values.metrics.enabled -}}
{{- $_ := set $settings "METRICS_PORT" (toString .Values.metrics.port) -}}
{{- $_ := set $settings "METRICS_HOST" "::" -}}
{{- end -}}
{{- $settings = merge $settings .Values.settings -}}
{{- range $extraEnv }}{{ $settings = omit $settings .name }}{{ end -}}
{{- range $name, $value := $settings }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end -}}
{{- end -}}
{{- end -}}

{{- /*
  The values of one component's pods: those of all pods, which the component replaces or adds to. Takes a dictionary with `root`
  and `values`, those of the component.
*/ -}}
{{- define "merchant-connectivity.podValues" -}}
{{- $all := .root.Values -}}
{{- $own := .values -}}
{{- $result := dict -}}
{{- range tuple "podSecurityContext" "securityContext" "nodeSelector" "tolerations" "affinity" "topologySpreadConstraints" "priorityClassName" "runtimeClassName" "hostAliases" "dnsPolicy" "dnsConfig" -}}
{{- $_ := set $result . (ternary (get $own .) (get $all .) (hasKey $own .)) -}}
{{- end -}}
{{- range tuple "podAnnotations" "podLabels" -}}
{{- $_ := set $result . (merge (get $own . | default dict | deepCopy) (get $all . | default dict | deepCopy)) -}}
{{- end -}}
{{- range tuple "extraEnv" "extraEnvFrom" "extraVolumes" "extraVolumeMounts" "extraInitContainers" "extraContainers" -}}
{{- $_ := set $result . (concat (get $all . | default list) (get $own . | default list)) -}}
{{- end -}}
{{- /* An API server refuses a name that occurs twice, so the last one stays. */ -}}
{{- $variables := dict -}}
{{- range $result.extraEnv -}}
{{- $_ := set $variables .name . -}}
{{- end -}}
{{- $extraEnv := list -}}
{{- range $result.extraEnv -}}
{{- if hasKey $variables .name -}}
{{- $extraEnv = append $extraEnv (get $variables .name) -}}
{{- $variables = omit $variables .name -}}
{{- end -}}
{{- end -}}
{{- $_ := set $result "extraEnv" $extraEnv -}}
{{- toJson $result -}}
{{- end -}}

{{- /* A security context without null, and without the IDs that OpenShift assigns if it is that of a pod. */ -}}
{{- define "merchant-connectivity.securityContext" -}}
{{- $context := dict -}}
{{- $mode := dig "compatibility" "openshift" "adaptSecurityContext" "auto" (.root.Values.global | default dict) -}}
{{- $adapt := or (eq $mode "force") (and (eq $mode "auto") (.root.Capabilities.APIVersions.Has "security.openshift.io/v1")) -}}
{{- range $name, $value := .context | default dict -}}
{{- if not (or (kindIs "invalid" $value) (and $adapt (has $name (list "runAsUser" "runAsGroup" "fsGroup")))) -}}
{{- $_ := set $context $name $value -}}
{{- end -}}
{{- end -}}
{{- toJson $context -}}
{{- end -}}

{{- define "merchant-connectivity.pullSecrets" -}}
{{- $names := list -}}
{{- range concat ((.Values.global | default dict).imagePullSecrets | default list) .Values.imagePullSecrets -}}
{{- $names = append $names (ternary (dict "name" .) . (kindIs "string" .)) -}}
{{- end -}}
{{- toJson ($names | uniq) -}}
{{- end -}}

{{- define "merchant-connectivity.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (ternary (include "merchant-connectivity.fullname" .) "" .Values.serviceAccount.create) -}}
{{- end -}}

{{- /* The start of a pod's spec. Takes a dictionary with `root`, `component` and `values`, those of the component. */ -}}
{{- define "merchant-connectivity.pod" -}}
{{- $root := .root -}}
{{- $isMigration := eq .component "migration" -}}
{{- $pod := include "merchant-connectivity.podValues" . | fromJson -}}
automountServiceAccountToken: {{ $root.Values.serviceAccount.automount }}
{{- with include "merchant-connectivity.serviceAccount" $root }}
serviceAccountName: {{ . }}{{ if and $isMigration $root.Values.serviceAccount.create }}-migration{{ end }}
{{- end }}
# Kubernetes would set variables for every Service of the namespace. One named `metrics` would set METRICS_PORT.
enableServiceLinks: false
securityContext: {{ include "merchant-connectivity.securityContext" (dict "root" $root "context" $pod.podSecurityContext) }}
{{- with include "merchant-connectivity.pullSecrets" $root | fromJsonArray }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- range $name := tuple "nodeSelector" "tolerations" "affinity" "priorityClassName" "runtimeClassName" "hostAliases" "dnsPolicy" "dnsConfig" }}
{{- with get $pod $name }}
{{ $name }}: {{ toJson . }}
{{- end }}
{{- end }}
volumes:
  - name: data
    {{- $claim := $root.Values.data.existingClaim }}
    {{- if $root.Values.data.create }}
    {{- if $claim }}{{ fail "data.create and data.existingClaim exclude each other." }}{{ end }}
    {{- $claim = printf "%s-data" (include "merchant-connectivity.fullname" $root) }}
    {{- end }}
    {{- /* The migration writes no request log entries, and runs before the installation creates the claim. */}}
    {{- if and $claim (not $isMigration) }}
    persistentVolumeClaim: { claimName: {{ $claim }} }
    {{- else }}
    emptyDir: { sizeLimit: {{ $root.Values.data.sizeLimit }} }
    {{- end }}
  {{- with $pod.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with $pod.extraInitContainers }}
initContainers: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* The part of a Deployment's pod that a migration has not. Takes the dictionary of the pod. */ -}}
{{- define "merchant-connectivity.spread" -}}
{{- $selector := include "merchant-connectivity.selector" . | fromYaml -}}
{{- with (include "merchant-connectivity.podValues" . | fromJson).topologySpreadConstraints -}}
topologySpreadConstraints:
  {{- range . }}
  - {{ hasKey . "labelSelector" | ternary . (set (deepCopy .) "labelSelector" (dict "matchLabels" $selector)) | toJson }}
  {{- end }}
{{- end }}
{{- end -}}

{{- /* Takes the dictionary of the pod, and `env`, the variables of this process alone. */ -}}
{{- define "merchant-connectivity.container" -}}
{{- $values := .root.Values -}}
{{- $pod := include "merchant-connectivity.podValues" . | fromJson -}}
image: {{ include "merchant-connectivity.image" .root | quote }}
imagePullPolicy: {{ $values.image.pullPolicy }}
securityContext: {{ include "merchant-connectivity.securityContext" (dict "root" .root "context" $pod.securityContext) }}
env:
  {{- range .env }}
  - { name: {{ .name }}, value: {{ .value | quote }} }
  {{- end }}
  {{- include "merchant-connectivity.settings" (dict "root" .root "extraEnv" $pod.extraEnv) | trim | nindent 2 }}
  {{- with $pod.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- $sources := list -}}
{{- with $values.secrets.service -}}
{{- $sources = append $sources (dict "secretRef" (dict "name" .)) -}}
{{- else -}}
{{- if not (or $pod.extraEnv $pod.extraEnvFrom) -}}
{{- fail "secrets.service is empty, and neither extraEnv nor extraEnvFrom provides its settings." -}}
{{- end -}}
{{- end -}}
{{- if and (eq .component "migration") $values.secrets.migration -}}
{{- $sources = append $sources (dict "secretRef" (dict "name" $values.secrets.migration)) -}}
{{- end -}}
{{- with concat $sources ($pod.extraEnvFrom | default list) }}
envFrom: {{- toYaml . | nindent 2 }}
{{- end }}
volumeMounts:
  - { name: data, mountPath: /data }
  {{- with $pod.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
resources: {{ toJson .values.resources }}
{{- end -}}

{{- /* Takes the dictionary of the pod. */ -}}
{{- define "merchant-connectivity.extraContainers" -}}
{{- with (include "merchant-connectivity.podValues" . | fromJson).extraContainers }}
{{- toYaml . }}
{{- end }}
{{- end -}}

{{- /* Takes a dictionary with `probe`, `path` and `port`. */ -}}
{{- define "merchant-connectivity.probe" -}}
{{- toJson (merge (dict "httpGet" (dict "path" .path "port" .port)) (omit .probe "enabled")) -}}
{{- end -}}

{{- /* The metadata of pods. Takes the dictionary of the pod. */ -}}
{{- define "merchant-connectivity.podMetadata" -}}
{{- $pod := include "merchant-connectivity.podValues" . | fromJson -}}
labels: {{- include "merchant-connectivity.labels" (dict "root" .root "component" .component "extra" $pod.podLabels) | nindent 2 }}
{{- $annotations := $pod.podAnnotations }}
{{- if and .root.Values.metrics.enabled (ne .component "migration") }}
{{- $annotations = merge $annotations (dict "prometheus.io/scrape" "true" "prometheus.io/port" (toString .root.Values.metrics.port)) }}
{{- end }}
{{- with .root.Values.secrets.revision }}
{{- $_ := set $annotations "secrets/revision" . }}
{{- end }}
{{- with $annotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* The objects beside a Deployment. Takes the dictionary of its pod. */ -}}
{{- define "merchant-connectivity.besides" -}}
{{- $name := printf "%s-%s" (include "merchant-connectivity.fullname" .root) .component -}}
{{- $scaling := .values.autoscaling -}}
{{- if .root.Values.podDisruptionBudget.enabled }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{- include "merchant-connectivity.metadata" (dict "root" .root "component" .component "name" $name) | nindent 2 }}
spec:
  # With one replica, minAvailable: 1 would block every drain of its node.
  maxUnavailable: 1
  selector:
    matchLabels: {{- include "merchant-connectivity.selector" . | nindent 6 }}
{{- end }}
{{- if $scaling.enabled }}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{- include "merchant-connectivity.metadata" (dict "root" .root "component" .component "name" $name) | nindent 2 }}
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: {{ $name }} }
  {{- if gt (int $scaling.minReplicas) (int $scaling.maxReplicas) }}
  {{- fail (printf "autoscaling.minReplicas must not be above maxReplicas: %v, %v" $scaling.minReplicas $scaling.maxReplicas) }}
  {{- end }}
  minReplicas: {{ $scaling.minReplicas }}
  maxReplicas: {{ $scaling.maxReplicas }}
  {{- $metrics := $scaling.metrics }}
  {{- $requests := (.values.resources | default dict).requests | default dict }}
  {{- range $resource, $target := dict "cpu" $scaling.targetCPUUtilizationPercentage "memory" $scaling.targetMemoryUtilizationPercentage }}
  {{- if $target }}
  {{- if not (get $requests $resource) }}{{ fail (printf "autoscaling by %s requires resources.requests.%s." $resource $resource) }}{{ end }}
  {{- $metrics = append $metrics (dict "type" "Resource" "resource" (dict "name" $resource "target" (dict "type" "Utilization" "averageUtilization" $target))) }}
  {{- end }}
  {{- end }}
  {{- if not $metrics }}{{ fail "autoscaling requires a target or metrics." }}{{ end }}
  metrics: {{- toYaml $metrics | nindent 4 }}
  {{- with $scaling.behavior }}
  behavior: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end -}}
