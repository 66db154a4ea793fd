/** The navigation between the pages of the queue, which stands on each of them. */
import type { Texts } from '../../texts/texts.ts';
import type { OperatorContext } from './criteria.tsx';

/** The pages in their order; their addresses lie below `/operator`. */
const PAGES = [
  ['/queue', ({ queue }) => queue.overview],
  ['/queue/mail', ({ queue }) => queue.mail],
  ['/queue/mail?state=held', ({ queue }) => queue.heldMail],
  ['/queue/sites', ({ sites }) => sites.title],
  ['/queue/resting', ({ resting }) => resting.title],
  ['/queue/trace', ({ sites }) => sites.trace],
  ['/queue/change', ({ queue }) => queue.changeTab],
  ['/queue/actions', ({ queue }) => queue.actions],
  ['/deliver-test', ({ sites }) => sites.test],
  ['/emails', ({ sites }) => sites.allEmails],
  ['/broadcasts', ({ sites }) => sites.broadcasts],
] as const satisfies readonly (readonly [string, (texts: Texts) => string])[];

export function QueueTabs({ context }: { context: OperatorContext }) {
  const { path, query, texts } = context;
  const isHeld = query.get('state') === 'held';
  const present = `${path}${path === '/operator/queue/mail' && isHeld ? '?state=held' : ''}`;
  return (
    <nav class="tabs" aria-label={texts.queue.title}>
      <ul>
        {PAGES.map(([address, label]) => (
          <li key={address}>
            <a
              href={`/operator${address}`}
              aria-current={`/operator${address}` === present ? 'page' : undefined}
            >
              {label(texts)}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
