// Writes how the reference repacks Endpoints subsets and orders ports, for the tests of slices.
//
//	cd test/rig && go run ./gen/slices ../../src/controllers/_kit/slices/testdata
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"

	v1 "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/endpointslice/util"
	"k8s.io/kubernetes/pkg/api/v1/endpoints"
	"k8s.io/utils/dump"
)

const (
	seed         = 20261201
	subsetCases  = 120
	portCases    = 60
	addressesMax = 5
	subsetsMax   = 6
)

type repack struct {
	Given  []v1.EndpointSubset `json:"given"`
	Wanted []v1.EndpointSubset `json:"wanted"`
}

type order struct {
	Given  []discovery.EndpointPort `json:"given"`
	Wanted []discovery.EndpointPort `json:"wanted"`
	Dumps  []string                 `json:"dumps"`
}

func pick(r *rand.Rand, texts ...string) string { return texts[r.Intn(len(texts))] }

func maybe(r *rand.Rand, texts ...string) *string {
	if r.Intn(2) == 0 {
		return nil
	}
	text := pick(r, texts...)
	return &text
}

func port(r *rand.Rand) v1.EndpointPort {
	return v1.EndpointPort{
		Name:        pick(r, "", "http", "https", "metrics"),
		Port:        int32([]int{80, 443, 8080, 9090}[r.Intn(4)]),
		Protocol:    v1.Protocol(pick(r, "TCP", "UDP")),
		AppProtocol: maybe(r, "http", "kubernetes.io/h2c"),
	}
}

func address(r *rand.Rand) v1.EndpointAddress {
	n := 1 + r.Intn(addressesMax)
	given := v1.EndpointAddress{IP: fmt.Sprintf("10.0.0.%d", n), NodeName: maybe(r, "node-1")}
	if r.Intn(4) == 0 {
		given.IP = fmt.Sprintf("fd00::%d", n)
	}
	if r.Intn(4) == 0 {
		given.Hostname = fmt.Sprintf("web-%d", n)
	}
	if r.Intn(3) > 0 {
		given.TargetRef = &v1.ObjectReference{
			Kind: "Pod", Namespace: "ns", Name: fmt.Sprintf("web-%d", n),
			UID: types.UID(fmt.Sprintf("uid-%d", r.Intn(3))),
		}
	}
	return given
}

func addresses(r *rand.Rand) []v1.EndpointAddress {
	var made []v1.EndpointAddress
	for n := r.Intn(addressesMax); n > 0; n-- {
		made = append(made, address(r))
	}
	return made
}

func subsets(r *rand.Rand) []v1.EndpointSubset {
	var made []v1.EndpointSubset
	for n := r.Intn(subsetsMax); n >= 0; n-- {
		subset := v1.EndpointSubset{Addresses: addresses(r), NotReadyAddresses: addresses(r)}
		for p := r.Intn(4); p > 0; p-- {
			subset.Ports = append(subset.Ports, port(r))
		}
		made = append(made, subset)
	}
	return made
}

func slicePorts(r *rand.Rand) []discovery.EndpointPort {
	var made []discovery.EndpointPort
	for n := r.Intn(6); n > 0; n-- {
		one := port(r)
		protocol, number := one.Protocol, one.Port
		made = append(made, discovery.EndpointPort{
			Name: maybe(r, "", "http", "https", "metrics"), Port: &number, Protocol: &protocol,
			AppProtocol: one.AppProtocol,
		})
		if r.Intn(8) == 0 {
			made[len(made)-1].Port = nil
		}
	}
	return made
}

func write(folder, name string, value any) {
	text, err := json.MarshalIndent(value, "", " ")
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name), append(text, '\n'), 0o644)
	}
	if err != nil {
		panic(err)
	}
}

func main() {
	r := rand.New(rand.NewSource(seed))
	var repacked []repack
	for range subsetCases {
		given := subsets(r)
		repacked = append(repacked, repack{given, endpoints.RepackSubsets(given)})
	}
	var ordered []order
	for range portCases {
		given := slicePorts(r)
		wanted := append([]discovery.EndpointPort{}, given...)
		util.NewPortMapKey(wanted)
		var dumps []string
		for _, one := range wanted {
			dumps = append(dumps, dump.ForHash(one))
		}
		ordered = append(ordered, order{given, wanted, dumps})
	}
	folder := os.Args[1]
	write(folder, "subsets-v1.36.3.json", repacked)
	write(folder, "ports-v1.36.3.json", ordered)
	fmt.Println(dump.ForHash(repacked[0].Wanted))
}
