import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import type { UserConfig } from 'vite'

const source = (part: string): string =>
  fileURLToPath(new URL(`../../src/${part}/index.ts`, import.meta.url))

export default {
  plugins: [react()],
  resolve: {
    // As this repository has it. In a project of yours, npm installs it.
    alias: {
      'countersign/client': source('client'),
      'countersign/wagmi': source('wagmi'),
    },
  },
  server: {
    // The backend must see the page's own host, or it refuses the request.
    proxy: {
      '/payments': { target: 'http://127.0.0.1:3000', changeOrigin: false },
    },
  },
} satisfies UserConfig
