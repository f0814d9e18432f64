/** The routes, behind the chain that every request passes: recovery, log, who asks, who may. */
import type { IncomingMessage } from 'node:http';
import { type Context, Hono } from 'hono';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { ServedMetrics } from '../runtime/metrics.ts';
import type { Random } from '../runtime/random.ts';
import type { StatusPort } from '../runtime/status.ts';
import type { Authenticate } from './authn.ts';
import type { Authorize } from './authz.ts';
import { answerHealth } from './healthz.ts';
import { createServingMetrics, type ServingMetrics } from './metrics.ts';
import { addPages } from './page/routes.ts';
import {
  drawSeparator,
  flagzObject,
  flagzText,
  formOf,
  type StatuszFacts,
  statuszObject,
  statuszText,
} from './pages.ts';

export interface AppDeps {
  readonly status: StatusPort;
  readonly metrics: ServedMetrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly authenticate: Authenticate;
  readonly authorize: Authorize;
  readonly profiling: boolean;
  readonly versions: {
    readonly runtime: string;
    readonly binary: string;
    readonly emulation: string;
  };
  /** Sets -v while running; given for PUT /debug/flags/v. */
  setVerbosity(level: number): void;
}

type Bindings = { Bindings: { incoming: IncomingMessage } };
type Ask = Context<Bindings>;

const TEXT = { 'Content-Type': 'text/plain; charset=utf-8' };
const NO_SNIFFING = { 'X-Content-Type-Options': 'nosniff' };
const LISTED_PATHS = ['/configz', '/flagz', '/healthz', '/metrics'];

/** Creates the application; it answers through Hono's `fetch`. */
export function createApp(deps: AppDeps): Hono<Bindings> {
  const app = new Hono<Bindings>();
  const serving = createServingMetrics(deps.metrics);
  const startedAt = deps.clock.now();
  app.onError((error, c) => {
    deps.log.error('A request handler failed', error, { path: c.req.path });
    return c.text('This request caused the server to panic. Look in the logs for details.', 500);
  });
  app.use(async (c, next) => guard(deps, serving, c, next));
  app.all('/healthz', (c) => health(deps, serving, c));
  app.all('/metrics', async (c) => c.body(await deps.metrics.serialize(), 200, METRICS));
  app.delete('/metrics/slis', (c) => {
    serving.resetSlis();
    return c.text('metrics reset\n');
  });
  app.all('/metrics/slis', async (c) => c.body(await serving.slis(), 200, METRICS));
  app.all('/configz', (c) =>
    c.json({ 'kubecontrollermanager.config.k8s.io': deps.status.configz() }),
  );
  pages(app, deps, startedAt);
  addPages(app, deps.status);
  debug(app, deps);
  app.notFound((c) => c.body('404 page not found\n', 404, TEXT));
  return app;
}

const METRICS = { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' };

async function guard(
  deps: AppDeps,
  serving: ServingMetrics,
  c: Ask,
  next: () => Promise<void>,
): Promise<Response | undefined> {
  const { incoming } = c.env;
  const verb = c.req.method.toLowerCase();
  const { path } = c.req;
  c.header('Cache-Control', 'no-cache, private');
  const askedAt = deps.clock.monotonic();
  const user = await deps.authenticate(incoming);
  const knownAt = deps.clock.monotonic();
  serving.authenticated(user?.name, knownAt - askedAt);
  if (user === undefined) return c.json(failure(401, 'Unauthorized', 'Unauthorized'), 401);
  try {
    const answer = await deps.authorize(user, verb, path);
    const refused = answer.denied ? 'denied' : 'no-opinion';
    const result = answer.allowed ? 'allowed' : refused;
    serving.authorized(result, deps.clock.monotonic() - knownAt);
    if (!answer.allowed) {
      const why = answer.reason === '' ? '' : `: ${answer.reason}`;
      const message = harmless(`User "${user.name}" cannot ${verb} path "${path}"`);
      const status = failure(403, 'Forbidden', `forbidden: ${message}${why}`, {});
      return c.json(status, 403, NO_SNIFFING);
    }
  } catch (error) {
    serving.authorized('error', deps.clock.monotonic() - knownAt);
    const why = error instanceof Error ? error.message : String(error);
    const uri = c.req.url.replace(/^\w+:\/\/[^/]+/, '');
    const message = harmless(`Internal Server Error: "${uri}": ${why}`);
    return c.body(`${message}\n`, 500, { ...TEXT, ...NO_SNIFFING });
  }
  await next();
  if (deps.log.enabled(3)) {
    deps.log.v(3).info('HTTP', { verb, path, status: c.res.status, user: user.name });
  }
  return undefined;
}

/** No text of a stranger may look like HTML. */
function harmless(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function failure(code: number, reason: string, message: string, details?: object): object {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    details,
    code,
  };
}

async function health(deps: AppDeps, serving: ServingMetrics, c: Ask): Promise<Response> {
  const excluded = c.req.queries('exclude') ?? [];
  const verbose = c.req.query('verbose') !== undefined;
  const answer = await answerHealth(deps.status.healthChecks(), excluded, verbose);
  for (const { name, ok } of answer.results) serving.checked(name, ok);
  const headers = { ...TEXT, ...NO_SNIFFING };
  return c.body(answer.body, answer.status, headers);
}

function pages(app: Hono<Bindings>, deps: AppDeps, startedAt: number): void {
  const flagSeparator = drawSeparator(deps.random);
  app.all('/flagz', (c) => {
    const flags = deps.status.flagz();
    return page(
      c,
      'Flagz',
      () => flagzText(flags, flagSeparator),
      (v) => flagzObject(flags, v),
    );
  });
  app.all('/statusz', (c) => {
    const facts: StatuszFacts = {
      startedAt,
      now: deps.clock.now(),
      runtimeVersion: deps.versions.runtime,
      binaryVersion: deps.versions.binary,
      emulationVersion: deps.versions.emulation,
      paths: LISTED_PATHS,
      more: deps.status.statusz(),
    };
    const text = (): string => statuszText(facts, drawSeparator(deps.random));
    return page(c, 'Statusz', text, (version) => statuszObject(facts, version));
  });
}

function page(
  c: Ask,
  kind: string,
  text: () => string,
  structured: (version: string) => object,
): Response {
  const form = formOf(c.req.header('accept'), kind);
  if (form === 'text') return c.body(text(), 200, TEXT);
  if (form === 'refused') {
    const message = `only the following media types are accepted: text/plain, application/json;g=config.k8s.io;v=v1beta1;as=${kind}`;
    return c.json(failure(406, 'NotAcceptable', message), 406);
  }
  if (form.version === 'v1alpha1') {
    const endpoint = kind.toLowerCase();
    const what = `This version of the ${endpoint} endpoint is deprecated`;
    c.header('Warning', `299 - "${what}. Please use a newer version."`);
  }
  return c.json(structured(form.version));
}

function debug(app: Hono<Bindings>, deps: AppDeps): void {
  app.get('/debug/holdfast', (c) => c.json(Object.keys(deps.status.debug()).sort()));
  app.get('/debug/holdfast/:section', (c) => {
    const section = deps.status.debug()[c.req.param('section')];
    if (section === undefined) return c.notFound() as Response;
    return c.json(section() as object);
  });
  app.all('/debug/controllers/:name/*', (c) => {
    const handler = deps.status.controllerDebug()[c.req.param('name')];
    const url = new URL(c.req.url);
    const page = handler?.(url.pathname, url.searchParams);
    if (page === undefined) return c.notFound() as Response;
    if (typeof page === 'string') return c.body(page, 200, TEXT);
    return c.body(page.text, 200, {
      'Content-Type': page.contentType,
      ...NO_SNIFFING,
    });
  });
  if (!deps.profiling) return;
  app.all('/debug/flags/v', async (c) => {
    const plain = { 'Content-Type': 'text/plain', ...NO_SNIFFING };
    if (c.req.method !== 'PUT') return c.body('unsupported http method\n', 406, plain);
    const text = (await c.req.text()).trim();
    if (!/^\d+$/.test(text)) {
      const problem = `failed to set klog.logging.verbosity ${text}: want a whole number\n`;
      return c.body(problem, 400, plain);
    }
    deps.setVerbosity(Number(text));
    return c.body(`successfully set klog.logging.verbosity to ${text}\n`, 200, plain);
  });
}
