/** Imports what defines the operations of the dashboard, which run in the threads of the database. */
import './audit/store.ts';
import './drafts/store.ts';
import './people/links-store.ts';
import './people/memberships-store.ts';
import './people/openid-store.ts';
import './people/passkeys-store.ts';
import './people/recovery-store.ts';
import './people/sessions-store.ts';
import './people/store.ts';
import './sent-forms/store.ts';
