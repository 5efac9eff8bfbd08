import { placeInPage } from './dom.js'
import { readLink, readPageData } from './readPageData.js'
import { showSubscriber } from './showSubscriber.js'

showSubscriber({
  data: readPageData(),
  link: readLink(),
  place: placeInPage(),
  signal: new AbortController().signal,
})

// Another link to the same page changes nothing but what is behind the `#`.
addEventListener('hashchange', () => location.reload())
