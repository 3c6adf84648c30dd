{{- define "name" -}}
{{- $name := ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) (contains .Chart.Name .Release.Name) -}}
{{- $name | trunc 48 | trimSuffix "-" -}}
{{- end -}}

{{- define "labels" -}}
{{ include "selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- /* Takes a dictionary with `root`, and optionally `component`. */ -}}
{{- define "selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end -}}

{{- define "image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}{{ $image.repository }}@{{ $image.digest }}
{{- else -}}{{ $image.repository }}:{{ $image.tag | default .Chart.AppVersion }}{{- end -}}
{{- end -}}

{{- /* The surfaces that this release serves, separated by commas. */ -}}
{{- define "surfaces" -}}
{{- $surfaces := list -}}
{{- range tuple "platform" "connector" "dashboard" "careers" -}}
{{- if get $.Values.hosts . }}{{ $surfaces = append $surfaces . }}{{ end -}}
{{- end -}}
{{- if .Values.internal }}{{ $surfaces = append $surfaces "internal" }}{{ end -}}
{{- join "," $surfaces -}}
{{- end -}}

{{- /* The component that serves a surface. */ -}}
{{- define "component" -}}
{{- ternary .surface "api" .root.Values.separateSurfaces -}}
{{- end -}}

{{- /* Every setting that is not secret, also for the migration, which runs before a ConfigMap would exist. */ -}}
{{- define "settings" -}}
{{- $settings := dict "MIGRATE_ON_START" "off" "TRUSTED_PROXY_HOPS" (toString .Values.trustedProxyHops) -}}
{{- range $surface, $host := .Values.hosts -}}
{{- if $host }}{{ $_ := set $settings (printf "%s_URL" (upper $surface)) (printf "https://%s" $host) }}{{ end -}}
{{- end -}}
{{- if .Values.metrics.enabled -}}
{{- $_ := set $settings "METRICS_PORT" (toString .Values.metrics.port) -}}
{{- $_ := set $settings "METRICS_HOST" "0.0.0.0" -}}
{{- end -}}
{{- range $name, $value := merge $settings .Values.settings }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end -}}
{{- end -}}

{{- define "pod" -}}
automountServiceAccountToken: false
# Kubernetes would set variables for every Service of the namespace. One named `metrics` would set METRICS_PORT.
enableServiceLinks: false
securityContext:
  { runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000, seccompProfile: { type: RuntimeDefault } }
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toJson . }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{ toJson . }}
{{- end }}
volumes:
  - name: data
    {{- if .Values.data.existingClaim }}
    persistentVolumeClaim: { claimName: {{ .Values.data.existingClaim }} }
    {{- else }}
    emptyDir: { sizeLimit: {{ .Values.data.sizeLimit }} }
    {{- end }}
{{- end -}}

{{- define "container" -}}
image: {{ include "image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: [ALL] } }
volumeMounts: [{ name: data, mountPath: /data }]
{{- end -}}

{{- define "podMetadata" -}}
labels: {{- include "labels" . | nindent 2 }}
{{- $annotations := deepCopy .root.Values.podAnnotations }}
{{- if .root.Values.metrics.enabled }}
{{- $_ := set $annotations "prometheus.io/scrape" "true" }}
{{- $_ := set $annotations "prometheus.io/port" (toString .root.Values.metrics.port) }}
{{- end }}
{{- with $annotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "budget" -}}
{{- if .root.Values.podDisruptionBudget.enabled }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "name" .root }}-{{ .component }}
  labels: {{- include "labels" . | nindent 4 }}
spec:
  # With one replica, minAvailable: 1 would block every drain of its node.
  maxUnavailable: 1
  selector:
    matchLabels: {{- include "selector" . | nindent 6 }}
{{- end }}
{{- end -}}
