package crdx;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives each test a Kubernetes API server with a state of its own, as a parameter of type {@link CrdxServer}, fabric8's {@code Config} or
 * the official client's {@code ApiClient}.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(CrdxExtension.class)
public @interface Crdx {
    /** Files and directories with CRDs and objects to load. */
    String[] load() default {};
}
