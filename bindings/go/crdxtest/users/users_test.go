package users_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/OWNER/kubectl-crdx/bindings/go/crdxtest"
	"github.com/OWNER/kubectl-crdx/bindings/go/crdxtest/users"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

func TestAddUserAddsAUserOfTheServer(t *testing.T) {
	t.Parallel()
	for _, config := range []*rest.Config{crdxtest.New(t), crdxtest.New(t, crdxtest.ClientCertificates())} {
		exists := true
		environment := &envtest.Environment{UseExistingCluster: &exists, Config: config}
		if err := users.Enable(environment); err != nil {
			t.Fatal(err)
		}
		if _, err := environment.Start(); err != nil {
			t.Fatal(err)
		}
		for _, base := range []*rest.Config{nil, environment.Config} {
			user, err := environment.AddUser(envtest.User{Name: "jane", Groups: []string{"dev"}}, base)
			if err != nil {
				t.Fatal(err)
			}
			c, err := client.New(user.Config(), client.Options{})
			if err != nil {
				t.Fatal(err)
			}
			review := &authenticationv1.SelfSubjectReview{}
			if err := c.Create(context.Background(), review); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(review.Status.UserInfo.Username, review.Status.UserInfo.Groups); got != "jane[dev system:authenticated]" {
				t.Error(got)
			}
		}
		if err := environment.Stop(); err != nil {
			t.Error(err)
		}
	}
}

func TestAnEnvironmentWithoutConfigurationIsAnError(t *testing.T) {
	if err := users.Enable(&envtest.Environment{}); err == nil {
		t.Error("there is no server")
	}
}
