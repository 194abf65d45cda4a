// Basics
