/** Leads to the page of audiences where an audience is needed and there is none. */
import type { TenantContext } from '../page.ts';

export function NoAudiences({ context: { texts, at } }: { context: TenantContext }) {
  return (
    <p class="muted">
      {texts.audiences.none} <a href={at('/audiences')}>{texts.audiences.create}</a>
    </p>
  );
}
