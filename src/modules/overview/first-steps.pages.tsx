import type { ComponentChildren, VNode } from 'preact';
import {
  Badge,
  ButtonLink,
  ClockTime,
  CodeBlock,
  dashboardPath,
  Middle,
  usePage,
  UserLink,
} from '../../infrastructure/pages/index.js';
import type { FirstStepsState } from './first-steps.service.js';

interface Step {
  readonly isDone: boolean;
  readonly title: string;
  /** The task of the user. */
  readonly task: ComponentChildren;
  /** The outcome that the service has noticed. */
  readonly result?: ComponentChildren;
}

/** The steps until an agent works for a user, with commands to copy. Each step is ticked when the service notices it. */
export function FirstSteps(state: FirstStepsState): VNode {
  const { environment } = usePage();
  const steps = [requestStep(state), eventStep(state), endpointStep(state), agentStep(state)];
  const done = steps.filter(({ isDone }) => isDone).length;
  return (
    <section class="card" aria-labelledby="first-steps">
      <h2 id="first-steps">First steps</h2>
      <p class="soft">{`${done} of ${steps.length} done in the ${environment} environment.`}</p>
      <ol class="steps">
        {steps.map(({ isDone, title, task, result }) => (
          <li key={title}>
            {isDone ? <Badge tone="good">Done</Badge> : <Badge tone="warn">To do</Badge>}{' '}
            <strong>{title}</strong> {result}
            {isDone ? null : task}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Leads from the unused production environment to the steps in the development environment. */
export function FirstStepsElsewhere(): VNode {
  // A deployment that is pinned to production has no other environment.
  const hasSteps = usePage().environments.includes('development');
  return (
    <section class="card" aria-labelledby="first-steps">
      <h2 id="first-steps">First steps</h2>
      <p>
        Nothing has been sent in the production environment yet. Begin with the{' '}
        {hasSteps ? (
          <a href={dashboardPath('development')}>first steps in the development environment</a>
        ) : (
          <a href="/docs/quickstart">quickstart</a>
        )}
        , then send requests with the{' '}
        <a href={dashboardPath('production', 'api-credentials')}>credentials of the production environment</a>
        .
      </p>
    </section>
  );
}

function requestStep({ clientId, apiUrl, hasSentRequest }: FirstStepsState): Step {
  const { environment } = usePage();
  return {
    isDone: hasSentRequest,
    title: 'Make your first request',
    task: (
      <>
        <p>
          It creates a token with which an agent may act for your user <code>user-1</code>. Replace{' '}
          <code>&lt;secret&gt;</code> with the secret from{' '}
          <a href={dashboardPath(environment, 'api-credentials')}>API credentials</a>.
        </p>
        <CodeBlock title="Request" code={curlOfFirstRequest(apiUrl, clientId)} />
      </>
    ),
    result: hasSentRequest ? (
      <a href={dashboardPath(environment, 'request-logs')}>It is in the request log</a>
    ) : null,
  };
}

function curlOfFirstRequest(apiUrl: string, clientId: string): string {
  return [
    `curl -sS ${apiUrl}/mcp/tokens/create`,
    `-u '${clientId}:<secret>'`,
    "-H 'Content-Type: application/json'",
    `-d '{"external_user_id":"user-1"}'`,
  ].join(' \\\n  ');
}

function eventStep({ hasReceivedEvent, event }: FirstStepsState): Step {
  const { environment } = usePage();
  return {
    isDone: hasReceivedEvent,
    title: 'Receive your first event',
    task: (
      <>
        <p>
          <a href="/docs/command-line">Install the command line and log in</a>. The first command waits for
          events, and the second one, in another terminal, triggers one.
        </p>
        <CodeBlock title="Receive events" code="npx mcs listen" />
        <CodeBlock title="Trigger an event" code="npx mcs trigger CARD_UPDATED" />
      </>
    ),
    result: event && (
      <>
        <a href={dashboardPath(environment, 'events', event.id)}>{event.name}</a>{' '}
        <ClockTime time={event.createdAt} />
        {hasReceivedEvent ? null : ' was published, but nothing has received it.'}
      </>
    ),
  };
}

function endpointStep({ hasEndpoint }: FirstStepsState): Step {
  const { environment } = usePage();
  const path = dashboardPath(environment, 'webhook-endpoints');
  return {
    isDone: hasEndpoint,
    title: 'Create a webhook endpoint',
    task: (
      <>
        <p>Your server then receives the events without the command line.</p>
        <ButtonLink to={`${path}/new`} kind="second">
          Create a webhook endpoint
        </ButtonLink>
      </>
    ),
    result: hasEndpoint ? <a href={path}>Webhook endpoints</a> : null,
  };
}

function agentStep({ connectorUrl, agent }: FirstStepsState): Step {
  const { environment } = usePage();
  return {
    isDone: agent !== undefined,
    title: 'Connect an agent',
    task: (
      <>
        <p>
          Add this address as a connector (MCP server) to an agent, and log in as a test user. See{' '}
          <a href="/docs/agent-login">how agents log in</a>, and the{' '}
          <a href={dashboardPath(environment, 'agents', 'settings')}>settings for agents</a>.
        </p>
        <CodeBlock title="Connector address" code={connectorUrl} />
      </>
    ),
    result: agent && (
      <>
        <Middle text={agent.agent.name} /> of <UserLink user={agent.external_user_id} />
      </>
    ),
  };
}
