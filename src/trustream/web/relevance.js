// The words that set a topic apart, as in LDAvis (Sievert and Shirley 2014).

// relevance = lambda log(beta) + (1 - lambda) log(beta / p), with beta the probability of a word in
// the topic and p that in all topics together. Returns the n words with the largest; of equal ones
// the first.
export function mostRelevant(data, topic, lambda, n = data.relevance.n_words) {
  const found = topic.words.map((number, i) => {
    const probability = topic.probabilities[i];
    const frequency = data.frequencies[number];
    const log = Math.log(probability);
    const relevance = lambda * log + (1 - lambda) * (log - Math.log(frequency));
    return { word: data.words[number], probability, frequency, relevance };
  });
  return found.sort((a, b) => b.relevance - a.relevance).slice(0, n);
}
