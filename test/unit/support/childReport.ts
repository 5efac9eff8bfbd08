import { once } from 'node:events'
import process from 'node:process'
import { sendLast } from '../../../bench/childMessages.js'

/** A child process that reports as many numbers as it is asked for. */
const [count] = await once(process, 'message')
if (count < 0) process.disconnect()
else await sendLast(Array.from({ length: count }, Math.random))
