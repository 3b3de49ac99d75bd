/** Trusted authorities in the form that Java reads. */
import { spawnSync } from 'node:child_process';
import { basename, join } from 'node:path';
import { RunFailure } from './run-failure.js';

const PASSWORD = 'sandpit';
const COMMANDS =
  /^(?:java|javaw|jbang|kotlin|scala|groovy|clojure|clj|lein|gradlew?|mvnw?|sbt|ant)(?:\.(?:bat|cmd|exe))?$/i;

export const isJavaCommand = (file: string): boolean => COMMANDS.test(basename(file));

/** Makes a key store with the certificate, by the JDK's own tool. */
export function javaStoreOf(directory: string, caFile: string): { path: string; password: string } {
  const home = process.env['JAVA_HOME'];
  const keytool = home === undefined || home === '' ? 'keytool' : join(home, 'bin', 'keytool');
  const path = join(directory, 'trust.p12');
  const given = ['-importcert', '-noprompt', '-alias', 'sandpit', '-file', caFile, '-keystore', path];
  const made = spawnSync(keytool, [...given, '-storetype', 'PKCS12', '-storepass', PASSWORD], {
    encoding: 'utf8',
  });
  if (made.status !== 0)
    throw new RunFailure(`Java needs keytool, which failed: ${made.error?.message ?? made.stdout}`);
  return { path, password: PASSWORD };
}
