import type { VNode } from 'preact';
import type { ApiOperation } from './api-operations.js';
import type { DeploymentAddress } from './home.page.js';

interface ReferenceContentProps {
  readonly operations: readonly ApiOperation[];
  /** The addresses of the surfaces that have their own. */
  readonly addresses: readonly DeploymentAddress[];
}

/** The API reference. Swagger UI replaces the list of operations, which is for browsers without scripts. */
export function ReferenceContent({ operations, addresses }: ReferenceContentProps): VNode {
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  return (
    <>
      <div class="intro">
        <h1>API reference</h1>
        <p>
          Every operation and field, as in <a href="/openapi.json">openapi.json</a> and{' '}
          <a href="/openapi.yaml">openapi.yaml</a>. Select <b>Authorize</b>, enter your credentials, and send
          requests to this deployment.
        </p>
        {addresses.length > 0 ? (
          <p>
            Operations of these surfaces can be tried only at the address of the surface:{' '}
            {addresses.map(({ name, url }, index) => (
              <>
                {index > 0 ? ', ' : ''}
                <a href={`${url}/docs/api`}>{name}</a>
              </>
            ))}
            .
          </p>
        ) : null}
      </div>
      <div id="reference">
        <div class="operations">
          {tags.map((tag) => (
            <section>
              <h2>{tag}</h2>
              <ul>
                {operations
                  .filter((operation) => operation.tag === tag)
                  .map(({ method, path, summary }) => (
                    <li>
                      <code>
                        <b>{method}</b> {path}
                      </code>{' '}
                      {summary}
                    </li>
                  ))}
              </ul>
            </section>
          ))}
        </div>
      </div>
    </>
  );
}
