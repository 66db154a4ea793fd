/** What stands where an audience is needed and there is none: the way to one. */
import type { TenantContext } from '../page.ts';

export function NoAudiences({ context: { texts, at } }: { context: TenantContext }) {
  return (
    <p class="muted">
      {texts.audiences.none} <a href={at('/audiences')}>{texts.audiences.create}</a>
    </p>
  );
}
