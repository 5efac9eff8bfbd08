import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import type { UserConfig } from 'vite'

const source = (part: string): string =>
  fileURLToPath(new URL(`../../src/${part}/index.ts`, import.meta.url))

export default {
  plugins: [react()],
  resolve: {
    // Uses the source of this repository. In your own project, npm installs it.
    alias: {
      'countersign/client': source('client'),
      'countersign/wagmi': source('wagmi'),
    },
  },
  server: {
    // Pass on the page's own host: otherwise the backend refuses the request.
    proxy: {
      '/payments': { target: 'http://127.0.0.1:3000', changeOrigin: false },
    },
  },
} satisfies UserConfig
