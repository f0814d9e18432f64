/** The user part of a kubeconfig: who we are to the server. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ClientConfig, ExecPlugin, Impersonation } from './client-config.ts';
import { quoted, whyUnreadable } from './config-error.ts';
import type { Section } from './fields.ts';
import { readPem } from './kubeconfig-pem.ts';
import { certificatesProblem, isPair, keyProblem, pemText } from './pem.ts';

export type UserPart = Partial<
  Pick<ClientConfig, 'clientCertificate' | 'token' | 'tokenFile' | 'basic' | 'exec' | 'impersonate'>
>;

const EXEC_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];

/**
 * Reads and checks the credentials. Over plain http (`secure` false) only impersonation is used,
 * as upstream: no secret travels in the clear.
 */
export function readUser(user: Section, directory: string, secure: boolean): UserPart {
  const impersonate = readImpersonation(user);
  if (!secure) return { impersonate };
  if (user.has('auth-provider')) {
    const name = user.section('auth-provider')?.text('name') ?? '';
    const valid = 'valid: a client certificate, token, tokenFile or an exec plugin';
    throw user.wrong('auth-provider', `${quoted([name])} is not supported here`, valid);
  }
  const clientCertificate = readClientCertificate(user, directory);
  const token = user.text('token');
  const tokenFile = readTokenFile(user, directory);
  const basic = readBasic(user);
  const exec = readExec(user, directory);
  if (token !== undefined && basic !== undefined) {
    throw user.wrong('token', 'and username are both given', 'valid: only one of the two');
  }
  return {
    impersonate,
    clientCertificate,
    token: token?.trim(),
    tokenFile,
    basic,
    exec,
  };
}

function readClientCertificate(
  user: Section,
  directory: string,
): ClientConfig['clientCertificate'] | undefined {
  const cert = readPem(user, 'client-certificate', directory, certificatesProblem);
  const key = readPem(user, 'client-key', directory, keyProblem);
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) {
    const [has, lacks] = cert === undefined ? ['key', 'certificate'] : ['certificate', 'key'];
    const found = `is not set although a client ${has} is given`;
    const valid = `valid: client-${lacks} (a file) or client-${lacks}-data (base64)`;
    throw user.wrong(`client-${lacks}`, found, valid);
  }
  if (!isPair(pemText(cert), pemText(key))) {
    const valid = 'valid: the private key that the certificate was made for';
    throw user.wrong('client-key', 'does not belong to the client certificate', valid);
  }
  return { cert, key };
}

function readTokenFile(user: Section, directory: string): string | undefined {
  const path = user.text('tokenFile');
  if (path === undefined) return undefined;
  const file = resolve(directory, path);
  const valid = 'valid: the path of a file that holds a bearer token';
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw user.wrong('tokenFile', `is ${file}, which ${whyUnreadable(error)}`, valid, error);
  }
  if (text.trim() === '') throw user.wrong('tokenFile', `is ${file}, which is empty`, valid);
  return file;
}

function readBasic(user: Section): ClientConfig['basic'] | undefined {
  const username = user.text('username');
  const password = user.text('password');
  if (username === undefined && password === undefined) return undefined;
  if (username === undefined) {
    throw user.wrong('username', 'is not set although a password is', 'valid: both or neither');
  }
  return { username, password: password ?? '' };
}

function readExec(user: Section, directory: string): ExecPlugin | undefined {
  const exec = user.section('exec');
  if (exec === undefined) return undefined;
  const command = exec.text('command');
  if (command === undefined) {
    throw exec.wrong('command', 'is not set', 'valid: the program that prints the credential');
  }
  const apiVersion = exec.text('apiVersion');
  if (apiVersion === undefined || !EXEC_VERSIONS.includes(apiVersion)) {
    const found = apiVersion === undefined ? 'is not set' : `is ${JSON.stringify(apiVersion)}`;
    throw exec.wrong('apiVersion', found, `valid: ${quoted(EXEC_VERSIONS)}`);
  }
  checkInteractive(exec, apiVersion);
  return {
    // A bare name is looked up in PATH; a path starts at the kubeconfig's folder.
    command: command.includes('/') ? resolve(directory, command) : command,
    apiVersion,
    args: exec.texts('args'),
    env: exec.sections('env').map((variable) => {
      const name = variable.text('name');
      if (name === undefined) throw variable.wrong('name', 'is not set', 'valid: a variable name');
      return { name, value: variable.text('value') ?? '' };
    }),
    provideClusterInfo: exec.flag('provideClusterInfo'),
    installHint: exec.text('installHint'),
  };
}

function checkInteractive(exec: Section, apiVersion: string): void {
  const mode = exec.text('interactiveMode');
  if (mode === undefined && apiVersion !== EXEC_VERSIONS[0]) return;
  if (mode === 'Never' || mode === 'IfAvailable') return;
  const found = mode === undefined ? 'is not set' : `is ${JSON.stringify(mode)}`;
  throw exec.wrong('interactiveMode', found, 'valid: "Never" or "IfAvailable" (nobody can answer)');
}

function readImpersonation(user: Section): Impersonation | undefined {
  const name = user.text('as');
  const uid = user.text('as-uid');
  const group = onlyOne(user, 'as-groups');
  const extra = readExtra(user);
  if (name !== undefined) return { user: name, uid, group, extra };
  if (uid === undefined && group === undefined && Object.keys(extra).length === 0) return undefined;
  const found = 'is not set although as-uid, as-groups or as-user-extra is';
  throw user.wrong('as', found, 'valid: the user to impersonate');
}

function readExtra(user: Section): Readonly<Record<string, string>> {
  const extra = user.section('as-user-extra');
  if (extra === undefined) return {};
  return Object.fromEntries(extra.names().map((name) => [name, onlyOne(extra, name) ?? '']));
}

/** Each value is a header line of its own, and fetch can't send a header twice. */
function onlyOne(section: Section, field: string): string | undefined {
  const values = section.texts(field);
  if (values.length <= 1) return values[0];
  throw section.wrong(field, `has ${values.length} entries`, 'valid: at most one');
}
