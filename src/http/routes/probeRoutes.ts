import type { ProbeVerdict } from '../../orders/index.js'
import { answer } from './answer.js'
import { problem } from './problem.js'
import type { Route } from './route.js'

/**
 * The routes that an orchestrator or a load balancer asks. They need no
 * sign-in, and are answered also when too many other requests are running.
 */
export function probeRoutes(): readonly Route[] {
  return [
    {
      who: 'prober',
      name: 'getLiveness',
      method: 'GET',
      path: '/livez',
      summary: 'Whether the process can work, or has to be restarted',
      answers: { 200: 'Probe' },
      run: async ({ orders }) => show(await orders.liveness()),
    },
    {
      who: 'prober',
      name: 'getReadiness',
      method: 'GET',
      path: '/readyz',
      summary: 'Whether the process can serve requests',
      answers: { 200: 'Probe' },
      run: async ({ orders, stopping }) =>
        stopping?.aborted
          ? problem('stopping')
          : show(await orders.readiness()),
    },
  ]
}

function show(verdict: ProbeVerdict): Response {
  return verdict.ok ? answer(200, { ok: true }) : problem(verdict.reason)
}
