// Writes where upstream places DaemonSets, over drawn nodes and pod specs, and which pods it makes.
// For the tests of src/controllers/daemonset.
//
//	cd test/rig && go run ./gen/placement ../../src/controllers/daemonset/testdata
package main

import (
	"encoding/json"
	"math/rand"
	"os"
	"path/filepath"

	"github.com/go-logr/logr"
	apps "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/daemon/util"
)

const (
	seed        = 20261130
	perAnswer   = 80
	comparisons = 40
	pods        = 30
)

var chance = rand.New(rand.NewSource(seed))

func one[T any](of ...T) T { return of[chance.Intn(len(of))] }

func sometimes(in int) bool { return chance.Intn(in) == 0 }

// Where a pod spec goes on a node: "run", "stay" (only if it is there) or "no".
type placement struct {
	Node nodeFacts  `json:"node"`
	Spec v1.PodSpec `json:"spec"`
	// With gate TaintTolerationComparisonOperators off and on.
	Without string `json:"without"`
	With    string `json:"with"`
}

type nodeFacts struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels"`
	Taints []v1.Taint        `json:"taints"`
}

// A pod spec and the template of the pod that is made of it for node n1.
type made struct {
	Spec v1.PodSpec         `json:"spec"`
	Pod  v1.PodTemplateSpec `json:"pod"`
}

func requirement() v1.NodeSelectorRequirement {
	key := one("a", "b", "size", "x.io/c")
	if sometimes(40) {
		key = "bad key"
	}
	switch operator := one("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Odd"); operator {
	case "Exists", "DoesNotExist":
		values := one(nil, nil, nil, []string{"1"})
		return v1.NodeSelectorRequirement{Key: key, Operator: v1.NodeSelectorOperator(operator), Values: values}
	case "Gt", "Lt":
		values := one([]string{"5"}, []string{"0"}, []string{"007"}, []string{"x"}, nil, []string{"1", "2"}, []string{"99999999999999999999"})
		return v1.NodeSelectorRequirement{Key: key, Operator: v1.NodeSelectorOperator(operator), Values: values}
	default:
		values := one([]string{"1"}, []string{"1", "2"}, []string{"", "x"}, []string{"5"}, nil)
		return v1.NodeSelectorRequirement{Key: key, Operator: v1.NodeSelectorOperator(operator), Values: values}
	}
}

func field() v1.NodeSelectorRequirement {
	return v1.NodeSelectorRequirement{
		Key:      one("metadata.name", "metadata.name", "metadata.namespace"),
		Operator: one(v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn, v1.NodeSelectorOpExists),
		Values:   one([]string{"n1"}, []string{"n2"}, []string{"n1", "n2"}, nil, []string{""}),
	}
}

func affinity() *v1.Affinity {
	selector := &v1.NodeSelector{}
	for range chance.Intn(3) {
		term := v1.NodeSelectorTerm{}
		for range chance.Intn(3) {
			term.MatchExpressions = append(term.MatchExpressions, requirement())
		}
		if sometimes(3) {
			term.MatchFields = append(term.MatchFields, field())
		}
		selector.NodeSelectorTerms = append(selector.NodeSelectorTerms, term)
	}
	found := &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: selector}}
	if sometimes(3) {
		found.PodAntiAffinity = &v1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{TopologyKey: "zone"}},
		}
	}
	return found
}

func toleration() v1.Toleration {
	found := v1.Toleration{
		Key:      one("", "t", "u", v1.TaintNodeNotReady, v1.TaintNodeDiskPressure),
		Operator: one(v1.TolerationOperator(""), v1.TolerationOpEqual, v1.TolerationOpExists),
		Effect:   one(v1.TaintEffect(""), v1.TaintEffectNoSchedule, v1.TaintEffectNoExecute),
	}
	if found.Operator != v1.TolerationOpExists {
		found.Value = one("", "1", "x")
	}
	if sometimes(3) {
		seconds := int64(chance.Intn(300))
		found.TolerationSeconds = &seconds
	}
	return found
}

func spec() v1.PodSpec {
	found := v1.PodSpec{HostNetwork: sometimes(3)}
	if sometimes(12) {
		found.NodeName = one("n1", "n2")
	}
	if sometimes(4) {
		found.NodeSelector = map[string]string{one("a", "b"): one("1", "2", "")}
	}
	if sometimes(2) {
		found.Affinity = affinity()
	}
	for range chance.Intn(3) {
		found.Tolerations = append(found.Tolerations, toleration())
	}
	return found
}

func node() *v1.Node {
	found := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: one("n1", "n2"), Labels: map[string]string{}}}
	for _, key := range []string{"a", "b", "size", "x.io/c"} {
		if sometimes(2) {
			found.Labels[key] = one("1", "2", "x", "", "5", "10", "007")
		}
	}
	for range chance.Intn(3) {
		found.Spec.Taints = append(found.Spec.Taints, v1.Taint{
			Key: one("t", "u", v1.TaintNodeNotReady, v1.TaintNodeDiskPressure,
				v1.TaintNodeNetworkUnavailable, v1.TaintNodeUnschedulable),
			Value:  one("", "1", "x"),
			Effect: one(v1.TaintEffectNoSchedule, v1.TaintEffectNoExecute, v1.TaintEffectPreferNoSchedule),
		})
	}
	return found
}

// A tainted node and a toleration that compares numbers.
func comparison() (*v1.Node, v1.PodSpec) {
	value := func() string { return one("5", "6", "7", "8", "-3", "0", "12", "05", "-0", "x", "99999999999999999999") }
	effect := one(v1.TaintEffectNoSchedule, v1.TaintEffectNoExecute)
	where := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{}}}
	where.Spec.Taints = []v1.Taint{{Key: "t", Value: value(), Effect: effect}}
	operator := one(v1.TolerationOpGt, v1.TolerationOpLt)
	return where, v1.PodSpec{Tolerations: []v1.Toleration{{Key: "t", Operator: operator, Value: value()}}}
}

func place(spec v1.PodSpec, on *v1.Node) string {
	set := &apps.DaemonSet{}
	set.Spec.Template.Spec = spec
	switch run, stay := daemon.NodeShouldRunDaemonPod(logr.Discard(), on, set); {
	case run:
		return "run"
	case stay:
		return "stay"
	default:
		return "no"
	}
}

func draw() ([]placement, []*v1.Node) {
	var placements []placement
	var nodes []*v1.Node
	add := func(on *v1.Node, pod v1.PodSpec, answer string) {
		facts := nodeFacts{on.Name, on.Labels, on.Spec.Taints}
		placements = append(placements, placement{Node: facts, Spec: pod, Without: answer})
		nodes = append(nodes, on)
	}
	answers := map[string]int{}
	for answers["run"] < perAnswer || answers["stay"] < perAnswer || answers["no"] < perAnswer {
		on, pod := node(), spec()
		answer := place(pod, on)
		if answers[answer]++; answers[answer] <= perAnswer {
			add(on, pod, answer)
		}
	}
	for range comparisons {
		on, pod := comparison()
		add(on, pod, place(pod, on))
	}
	return placements, nodes
}

func writeLines[T any](path string, values []T) {
	file, err := os.Create(path)
	if err != nil {
		panic(err)
	}
	lines := json.NewEncoder(file)
	for _, value := range values {
		if err := lines.Encode(value); err != nil {
			panic(err)
		}
	}
	if err := file.Close(); err != nil {
		panic(err)
	}
}

func main() {
	klog.SetLogger(logr.Discard())
	placements, nodes := draw()
	gate := map[string]bool{"TaintTolerationComparisonOperators": true}
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(gate); err != nil {
		panic(err)
	}
	for at := range placements {
		placements[at].With = place(placements[at].Spec, nodes[at])
	}
	var templates []made
	for range pods {
		pod := spec()
		generation := int64(3)
		template := util.CreatePodTemplate(v1.PodTemplateSpec{Spec: *pod.DeepCopy()}, &generation, "hash")
		template.Spec.Affinity = util.ReplaceDaemonSetPodNodeNameNodeAffinity(template.Spec.Affinity, "n1")
		templates = append(templates, made{pod, template})
	}
	folder := os.Args[1]
	writeLines(filepath.Join(folder, "placement-v1.36.3.jsonl"), placements)
	writeLines(filepath.Join(folder, "pods-v1.36.3.jsonl"), templates)
}
