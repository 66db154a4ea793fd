/** It cannot be loaded. */
throw new Error('broken while loading');
