/** How drizzle-kit makes the files of migrations/ out of the schema: `npx drizzle-kit generate`. */
import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'sqlite',
  schema: './src/store/schema.ts',
  out: './migrations',
});
