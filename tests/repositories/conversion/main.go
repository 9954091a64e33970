// Serves the conversion webhooks of three operators: their API types, from their Go modules, behind the handler of controller-runtime.
//
// It prints the URL on standard output and writes the certificate to the file of -certificate. -lose plants a loss: the field of every
// converted object of a kind is removed, so that a round trip must find it. -break makes answers invalid.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"

	monitoringv1alpha1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1alpha1"
	monitoringv1beta1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1beta2 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"
	kueuev1beta1 "sigs.k8s.io/kueue/apis/kueue/v1beta1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

func main() {
	certificate := flag.String("certificate", "", "the file to which the certificate is written")
	lose := flag.String("lose", "", "KIND:FIELD.FIELD…, a field to remove from every converted object of the kind")
	fault := flag.String("break", "", "a fault of every answer: number, uid, name or apiVersion")
	record := flag.String("record", "", "a file to which the objects of all requests are written, one a line")
	flag.Parse()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clusterv1beta1.AddToScheme, clusterv1beta2.AddToScheme,
		kueuev1beta1.AddToScheme, kueuev1beta2.AddToScheme,
		monitoringv1alpha1.AddToScheme, monitoringv1beta1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			log.Fatal(err)
		}
	}
	// The operator asks the CRD of the referenced kind; here every kind has this version.
	clusterv1beta1.SetAPIVersionGetter(func(kind schema.GroupKind) (string, error) {
		return kind.Group + "/v1beta2", nil
	})
	handler := conversion.NewWebhookHandler(scheme, conversion.NewRegistry())
	listener, err := listen(*certificate)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Fprintf(os.Stdout, "https://%s/convert\n", listener.Addr())
	recorded, err := recording(changed(handler, *lose, *fault), *record)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(serve(listener, recorded))
}
