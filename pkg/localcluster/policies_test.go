package localcluster

import "testing"

func TestAMarkerIsTwoPoliciesWithTheirBindings(t *testing.T) {
	objects, err := markers("marker-1")
	if err != nil {
		t.Fatal(err)
	}
	var got string
	for _, o := range objects {
		got += resourceOf(o).Resource + "/" + o.GetName() + " "
	}
	const want = "mutatingadmissionpolicies/marker-1 mutatingadmissionpolicybindings/marker-1 " +
		"validatingadmissionpolicies/marker-1 validatingadmissionpolicybindings/marker-1 "
	if got != want {
		t.Errorf("got %q", got)
	}
}
